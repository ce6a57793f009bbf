/* A wrong PE, from a function whose name is as the library's are. */
#include <shmem.h>

static long word;

__attribute__((noinline)) static void shmem_halo_exchange(int pe)
{
    shmem_long_p(&word, 1, pe); /* call */
    __asm__ volatile("");
}

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    shmem_halo_exchange(99);
    shmem_finalize();
    return 0;
}

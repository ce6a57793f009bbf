// An exception that nobody catches.
#include <shmem.h>
#include <stdexcept>

__attribute__((noinline)) static void thrower(int pe)
{
    if (pe == 1) throw std::runtime_error("nobody catches this"); // here
}

int main()
{
    shmem_init();
    shmem_barrier_all();
    thrower(shmem_my_pe());
    shmem_barrier_all();
    shmem_finalize();
}

/* Does nothing wrong. */
#include <shmem.h>

int main(void) {
    shmem_init();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

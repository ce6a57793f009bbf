/* Every PE calls global_exit with a status of its own, at about the same time. */
#include <shmem.h>

int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    shmem_global_exit(20 + me);
}

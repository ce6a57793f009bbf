/* Writes to a static object of another PE; built with PAD it is elsewhere in as many pages. */
#include <shmem.h>
#include <stdio.h>

#ifdef PAD
static long before[PAD] = {1};
#endif
static long target = 5, other = 6;

int main(void) {
    shmem_init();
#ifdef PAD
    before[0]++;
#endif
    if (shmem_my_pe() == 0) shmem_long_p(&target, 99, 1);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) printf("%ld %ld\n", target, other);
    shmem_finalize();
    return 0;
}

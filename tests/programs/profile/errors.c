/* Calls that cannot be carried out, of routines whose result tells of it and of others: three each. */
#include <shmem.h>
#include <shmemx.h>

static long target, to[4], from[4];

int main(void) {
    shmem_init();
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    for (int k = 0; k < 3; k++) {
        (void)shmem_malloc((size_t)1 << 50);
        (void)shmem_long_sum_reduce(SHMEM_TEAM_INVALID, to, from, 4);
        shmem_long_p(&target, 1, 99);
        shmem_putmem(to, from, sizeof from, 99);
        (void)shmem_long_g(&target, 99);
        shmem_long_atomic_add(&target, 1, 99);
        (void)shmem_int_atomic_fetch((int *)&target, 99);
        /* These are fine. */
        shmem_long_p(&target, k, 0);
        (void)shmem_long_g(&target, 0);
    }
    shmem_finalize();
    return 0;
}

/*
 * What programs for older libraries do: start_pes, work arrays on the stack, a broadcast onto itself, exit without
 * shmem_finalize, volatile flags, the cache routines.
 */
#include <mpp/shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(what)                                              \
    do {                                                        \
        if (!(what)) {                                          \
            printf("PE %d: not so: %s\n", _my_pe(), #what);     \
            exit(1);                                            \
        }                                                       \
    } while (0)

static volatile long flag;

static int spins_until(long *word, int how, long value) {
    int spins = 0;
    while (!shmem_long_test(word, how, value)) spins++;
    return spins;
}

int main(void) {
    long pSync[_SHMEM_REDUCE_SYNC_SIZE];
    double pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
    start_pes(0);
    double began = shmemx_wtime();
    int me = _my_pe(), npes = _num_pes(), next = (me + 1) % npes;
    for (int i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++) pSync[i] = _SHMEM_SYNC_VALUE;
    double *mine = shmalloc(sizeof *mine), *most = shmalloc(sizeof *most);
    int *arguments = shmalloc(3 * sizeof *arguments);
    for (int round = 0; round < 50; round++) {
        *mine = me + round;
        shmem_barrier(0, 0, npes, pSync);
        shmem_double_max_to_all(most, mine, 1, 0, 0, npes, pWrk, pSync);
        MUST(*most == npes - 1 + round);
    }
    for (int i = 0; i < 3; i++) arguments[i] = me == 0 ? 7 + i : -1;
    shmem_barrier_all();
    shmem_broadcast32(arguments, arguments, 3, 0, 0, 0, npes, pSync);
    for (int i = 0; i < 3; i++) MUST(arguments[i] == 7 + i);

    shmem_long_p((long *)&flag, 3, next);
    spins_until((long *)&flag, SHMEM_CMP_EQ, 3);
    shmem_wait((long *)&flag, 0);
    char *bytes = shmalloc(64);
    memset(bytes, 0, 64);
    shmem_barrier_all();
    static const char one = 1;
    shmem_putmem(bytes + 23, &one, 1, next);
    /* A word of a buffer, wherever it is. */
    shmem_int_wait((int *)(bytes + 23), 0);
    shmem_udcflush();
    shmem_clear_cache_line_inv(bytes);
    shmem_barrier_all();
    shfree(arguments);
    MUST(shmemx_wtime() > began && shmemx_wtime() - began < 600);
    printf("OK\n");
    exit(0);
}

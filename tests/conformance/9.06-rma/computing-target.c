/* 4.1 Progress: put, get and atomics to a PE that computes without calling the library complete meanwhile, on heap and
 * static objects.
 * pes: 2 3 4
 * needs: shmem_malloc shmem_long_put shmem_long_get shmem_long_atomic_fetch_add shmem_quiet
 */
#include "check.h"

static long fixed[64];
static long total;

static void serve(long *block, int target) {
    long values[64], back[64];
    for (int k = 0; k < 64; k++) values[k] = me * 1000 + k;
    for (int round = 0; round < 200; round++) {
        shmem_long_put(block, values, 64, target);
        shmem_quiet();
        shmem_long_get(back, block, 64, target);
        shmem_long_atomic_fetch_add(&total, 1, target);
    }
    if (npes == 2) CHECK(memcmp(back, values, sizeof values) == 0);
}

int main(void) {
    begin();
    long *heap = symmetric(64 * sizeof(long));
    volatile long *stop = symmetric(sizeof(long));
    *stop = 0;
    shmem_barrier_all();
    if (me == 0) {
        /* Until the others say so PE 0 only loads its own memory. */
        double started = seconds();
        while (*stop < npes - 1) CHECKF(seconds() - started < 10, "no progress without the target: %ld done", *stop);
        CHECK_EQ(total, 2 * 200 * (npes - 1));
    } else {
        serve(heap, 0);
        serve(fixed, 0);
        shmem_quiet();
        shmem_long_atomic_inc((long *)stop, 0);
    }
    return end();
}

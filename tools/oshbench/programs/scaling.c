/* What collectives cost as PEs and sizes grow; ns of one call, seen from PE 0. */
#include "shmem_bench.h"

/* Bytes that all PEs may need together for one object. */
#define MOST ((size_t)256 << 20)

int main(int argc, char **argv)
{
    start(argc, argv);
    budget_ns = quick ? 2e6 : 10e6;
    struct timing t = {0};

    MEASURE_TOGETHER(t, 1e6, shmem_barrier_all());
    if (me == 0)
        report("barrier", "none", 0, npes, t, NULL);

    for (size_t n = 8; n <= ((size_t)16 << 20); n *= 8) {
        size_t words = n / sizeof(long), all = n * (size_t)npes;
        if (n * (size_t)npes * 2 > MOST)
            break;
        long *source = symmetric(n), *dest = symmetric(n);
        MEASURE_TOGETHER(t, 1e6, shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, words, 0); shmem_sync_all());
        if (me == 0)
            report("broadcast+sync", "heap", n, npes, t, NULL);
        MEASURE_TOGETHER(t, 1e6, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, words));
        if (me == 0)
            report("sum", "heap", n, npes, t, NULL);
        shmem_free(dest);
        shmem_free(source);
        if (all * (size_t)npes * 2 > MOST)
            continue;
        source = symmetric(all);
        dest = symmetric(all);
        MEASURE_TOGETHER(t, 1e6, shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, words));
        if (me == 0)
            report("fcollect", "heap", n, npes, t, NULL);
        MEASURE_TOGETHER(t, 1e6, shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, words));
        if (me == 0)
            report("alltoall", "heap", n, npes, t, NULL);
        shmem_free(dest);
        shmem_free(source);
    }
    shmem_finalize();
    return 0;
}

/* Barrier, sync, broadcast, sum and a token round the ring, by all PEs; ns of one call (of one hop), seen from PE 0. */
#include "shmem_bench.h"
#include "machine.h"

#define LARGEST ((size_t)1 << 20)
#define WORDS (LARGEST / sizeof(long))

static long *token;

#if TEAMS
static void broadcast(long *dest, const long *source, size_t n)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, n, 0);
}

static void sum(long *dest, const long *source, size_t n)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n);
}

static void prepare_collectives(void)
{
}
#else
/* Two sets of work arrays in turn: when a PE is in call k+1, all PEs have left call k-1. */
static long broadcast_sync[2][SHMEM_BCAST_SYNC_SIZE];
static long reduce_sync[2][SHMEM_REDUCE_SYNC_SIZE];
static long reduce_work[2][WORDS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static unsigned turn;

static void broadcast(long *dest, const long *source, size_t n)
{
    shmem_broadcast64(dest, source, n, 0, 0, 0, npes, broadcast_sync[turn++ & 1]);
}

static void sum(long *dest, const long *source, size_t n)
{
    unsigned t = turn++ & 1;
    shmem_long_sum_to_all(dest, (long *)source, (int)n, 0, 0, npes, reduce_work[t], reduce_sync[t]);
}

static void prepare_collectives(void)
{
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++)
            broadcast_sync[t][i] = SHMEM_SYNC_VALUE;
        for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++)
            reduce_sync[t][i] = SHMEM_SYNC_VALUE;
    }
}
#endif

/* The token comes from the PE before and goes to the PE after; PE 0 sends it off and ends when it is back. */
static void ring_round(void)
{
    static long round_number;
    round_number++;
    if (me == 0)
        shmem_long_p(token, round_number, 1 % npes);
    shmem_long_wait_until(token, SHMEM_CMP_GE, round_number);
    if (me != 0)
        shmem_long_p(token, round_number, (me + 1) % npes);
}

/* A word to and fro between two processes by plain stores and loads: what no synchronisation of two can beat. */
static double cache_line_round_trip(volatile long *line)
{
    volatile long *there = shmem_ptr((void *)line, 1 - me);
    struct timing t;
    if (!agree(there != NULL))
        return -1;
    long round_number = 1; /* memory starts as bytes of 1, well above any round */
    *line = 0;
    if (me == 0) {
        MEASURE_TOGETHER(t, 200e3, *there = ++round_number; while (*line != round_number) {});
    } else {
        MEASURE_TOGETHER(t, 200e3, while (*line != round_number + 1) {} *there = ++round_number);
    }
    return t.ns;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    long *source = symmetric(LARGEST);
    long *dest = symmetric(LARGEST);
    token = symmetric(4096);
    *token = 0;
    prepare_collectives();
    shmem_barrier_all();

    /* PEs that share cores take turns by scheduler slices: longer batches average over them. */
    int alone = npes <= (int)sysconf(_SC_NPROCESSORS_ONLN);
    double batch = alone ? 200e3 : 2e6;
    budget_ns *= alone ? 1 : 4;

    struct timing t = {0};
    const char *limit = NULL;
    if (npes == 2 && alone) {
        t.limit_ns = cache_line_round_trip(source) / 2;
        limit = t.limit_ns > 0 ? "cache_line_one_way" : NULL;
    }

    MEASURE_TOGETHER(t, batch, shmem_barrier_all());
    if (me == 0)
        report("barrier", "none", 0, npes, t, limit);
    MEASURE_TOGETHER(t, batch, shmem_sync_all());
    if (me == 0)
        report("sync", "none", 0, npes, t, limit);

    if (npes > 1) {
        MEASURE_TOGETHER(t, batch, ring_round());
        t.ns /= npes;
        if (me == 0)
            report("ring-hop", "heap", 8, npes, t, limit);
    }

    static const size_t sizes[] = {8, 65536, LARGEST};
    for (int i = 0; i < 3; i++) {
        size_t n = sizes[i];
        if (!alone && n == LARGEST)
            continue;
        if (n > 8) {
            struct timing copy;
            limit = "memcpy";
            MEASURE(copy, memcpy_call(dest, source, n), );
            t.limit_ns = copy.ns;
            shmem_barrier_all();
        }
        MEASURE_TOGETHER(t, batch, broadcast(dest, source, n / sizeof(long)); shmem_sync_all());
        if (me == 0)
            report("broadcast+sync", "heap", n, npes, t, limit);
        MEASURE_TOGETHER(t, batch, sum(dest, source, n / sizeof(long)));
        if (me == 0)
            report("sum", "heap", n, npes, t, limit);
    }

    shmem_barrier_all();
    shmem_free(token);
    shmem_free(dest);
    shmem_free(source);
    shmem_finalize();
    return 0;
}

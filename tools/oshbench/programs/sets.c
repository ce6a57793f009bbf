/* Collectives on an explicit active set of all PEs against the same calls of the interface of OpenSHMEM 1.x, whose set
 * is start, stride and size: the two in turns, the medians. ns of one call, seen from PE 0. */
#include "shmem_bench.h"

#include <shmemx.h>

#define WORDS 8192
#define TURNS 41

static long set_sync[2][SHMEM_SYNC_SIZE], strided_sync[2][SHMEM_SYNC_SIZE];
static long work[2][WORDS / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static shmemx_aset *set;
static long *target, *source;
static int words;

/* Two work arrays in turn: when a PE is in call k+1, all PEs have left call k-1. */
static unsigned turn;

static void barrier_set(void) { shmemx_barrier_aset(set, set_sync[turn++ & 1]); }
static void barrier_strided(void) { shmem_barrier(0, 0, npes, strided_sync[turn++ & 1]); }
static void sync_set(void) { shmemx_sync_aset(set, set_sync[turn++ & 1]); }
static void sync_strided(void) { shmem_sync(0, 0, npes, strided_sync[turn++ & 1]); }

static void sum_set(void)
{
    unsigned t = turn++ & 1;
    shmemx_long_sum_to_all_aset(target, source, words, set, work[t], set_sync[t]);
}

static void sum_strided(void)
{
    unsigned t = turn++ & 1;
    shmem_long_sum_to_all(target, source, words, 0, 0, npes, work[t], strided_sync[t]);
}

static void fcollect_set(void) { shmemx_fcollect64_aset(target, source, (size_t)words, set, set_sync[turn++ & 1]); }
static void fcollect_strided(void)
{
    shmem_fcollect64(target, source, (size_t)words, 0, 0, npes, strided_sync[turn++ & 1]);
}

/* Nanoseconds of one of so many calls. */
static double calls(void (*call)(void), long count)
{
    shmem_barrier_all();
    double begin = now_ns();
    for (long i = 0; i < count; i++)
        call();
    return (now_ns() - begin) / (double)count;
}

static void measure(const char *name, size_t bytes, void (*ours)(void), void (*theirs)(void))
{
    double of[TURNS], limit_of[TURNS], batch = quick ? 200e3 : 2e6;
    double once = calls(ours, 16);
    once = calls(theirs, 16) + once;
    long count = agree(1 + (long)(batch / (once / 2)));
    for (int i = 0; i < TURNS; i++) {
        of[i] = calls(ours, count);
        limit_of[i] = calls(theirs, count);
    }
    shmem_barrier_all();
    struct timing t = {.ns = median(of, TURNS), .limit_ns = median(limit_of, TURNS)};
    if (me == 0)
        report(name, "heap", bytes, npes, t, "active-set");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    target = symmetric(WORDS * sizeof(long) * (size_t)npes);
    source = symmetric(WORDS * sizeof(long));
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
            set_sync[t][i] = strided_sync[t][i] = SHMEM_SYNC_VALUE;
    set = shmemx_create_strided_aset(0, 1, npes);
    shmem_barrier_all();
    measure("set-barrier", 0, barrier_set, barrier_strided);
    measure("set-sync", 0, sync_set, sync_strided);
    for (words = 1; words <= WORDS; words *= WORDS) {
        size_t bytes = (size_t)words * sizeof(long);
        measure("set-sum", bytes, sum_set, sum_strided);
        measure("set-fcollect", bytes, fcollect_set, fcollect_strided);
    }
    shmemx_delete_aset(set);
    shmem_finalize();
    return 0;
}

/* What PEs say to each other: gathers and exchanges of 8 bytes, locks, allocation; between two, a payload and its
 * flag. */
#include "shmem_bench.h"

#define PAYLOAD 1024
#define BLOCK ((size_t)1 << 20)

static long *flag;
static char *payload;
static long lock;

#if TEAMS
static void fcollect(long *dest, const long *source)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 1);
}

static void alltoall(long *dest, const long *source)
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
}

static void prepare(void)
{
}
#else
/* Two work arrays in turn: when a PE is in call k+1, all PEs have left call k-1. */
static long collect_sync[2][SHMEM_COLLECT_SYNC_SIZE];
static long alltoall_sync[2][SHMEM_ALLTOALL_SYNC_SIZE];
static unsigned turn;

static void fcollect(long *dest, const long *source)
{
    shmem_fcollect64(dest, source, 1, 0, 0, npes, collect_sync[turn++ & 1]);
}

static void alltoall(long *dest, const long *source)
{
    shmem_alltoall64(dest, source, 1, 0, 0, npes, alltoall_sync[turn++ & 1]);
}

static void prepare(void)
{
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++)
            collect_sync[t][i] = SHMEM_SYNC_VALUE;
        for (int i = 0; i < SHMEM_ALLTOALL_SYNC_SIZE; i++)
            alltoall_sync[t][i] = SHMEM_SYNC_VALUE;
    }
}
#endif

/* A kilobyte and then its flag, to the other PE, which answers with its own. */
static void hand_over(void)
{
    static long round_number;
    static char source[PAYLOAD];
    round_number++;
    if (me == 1)
        shmem_long_wait_until(flag, SHMEM_CMP_GE, round_number);
    shmem_putmem(payload, source, PAYLOAD, 1 - me);
    shmem_fence();
    shmem_long_p(flag, round_number, 1 - me);
    if (me == 0)
        shmem_long_wait_until(flag, SHMEM_CMP_GE, round_number);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    long *dest = symmetric(4096), *source = symmetric(4096);
    flag = symmetric(4096);
    payload = symmetric(4096);
    *flag = 0;
    prepare();
    shmem_barrier_all();
    struct timing t = {0};

#define TOGETHER(name, memory, bytes, body)                        \
    do {                                                           \
        MEASURE_TOGETHER(t, 200e3, body);                          \
        if (me == 0)                                               \
            report(name, memory, bytes, npes, t, NULL);            \
    } while (0)

    TOGETHER("fcollect", "heap", 8, fcollect(dest, source));
    TOGETHER("alltoall", "heap", 8, alltoall(dest, source));
    TOGETHER("lock-contended", "static", 8, shmem_set_lock(&lock); shmem_clear_lock(&lock));
    if (me == 0) {
        MEASURE(t, shmem_set_lock(&lock); shmem_clear_lock(&lock), );
        report("lock-free", "static", 8, npes, t, NULL);
    }
    shmem_barrier_all();
    if (npes == 2) {
        MEASURE_TOGETHER(t, 200e3, hand_over());
        t.ns /= 2;
        if (me == 0)
            report("put+fence+flag", "heap", PAYLOAD, npes, t, NULL);
    }
    TOGETHER("malloc+free", "heap", BLOCK, shmem_free(shmem_malloc(BLOCK)));

    shmem_finalize();
    return 0;
}

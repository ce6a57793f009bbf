/*
 * What profiling takes of a loop, to be compared with what the profile says of itself: the loop with the profile off
 * and on takes turns in one process, so that both see the same machine. Processor time counts, which others at work
 * change less than time that passes. OSHBENCH_KERNEL names the loop; each PE prints
 *   cost KERNEL CALLS NS: turns of the loop that were recorded, and how much longer they took than off, in nanoseconds.
 * With OSHBENCH_TURNS the loop runs so often as it is and nothing is printed: for oshrun --profile-cost.
 */
#include "shmem_bench.h"

#include <shmemx.h>
#include <stdint.h>

#define WORDS (1 << 20)
#define PUT 4096

static unsigned long *table;
static char *target, source[PUT];
static uint64_t state;
static volatile long found;
static long sum[2], flag, lap;
static int is_recorded = 1;

static void updates(int count)
{
    for (int u = 0; u < count; u++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t r = state >> 20;
        shmem_atomic_xor(&table[r & (WORDS - 1)], (unsigned long)r, (int)((r >> 20) % (uint64_t)npes));
    }
}

static void queries(int count)
{
    long all = 0;
    for (int u = 0; u < count; u++)
        all += shmem_n_pes();
    found += all;
}

static void puts4k(int count)
{
    for (int u = 0; u < count; u++)
        shmem_putmem(target, source, PUT, (me + 1) % npes);
}

static void barriers(int count)
{
    for (int u = 0; u < count; u++)
        shmem_barrier_all();
}

static void sums(int count)
{
    for (int u = 0; u < count; u++)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum + 1, sum, 1);
}

/* A flag that goes round all PEs. */
static void flags(int count)
{
    for (int u = 0; u < count; u++) {
        lap++;
        if (me != 0)
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, lap);
        shmem_long_p(&flag, lap, (me + 1) % npes);
        if (me == 0)
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, lap);
    }
}

/* Regions are nested and timed where the profile is off for a while, too: off is a program that names none. */
static void regions(int count)
{
    for (int u = 0; u < count; u++) {
        if (is_recorded)
            shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "inner");
        found += u;
        if (is_recorded)
            shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "inner");
    }
}

static const struct kernel {
    const char *name;
    void (*run)(int);
    int count;
} kernels[] = {
    {"gups", updates, 20000},   {"n_pes", queries, 100000}, {"put-4KiB", puts4k, 5000},
    {"barrier", barriers, 2000}, {"sum", sums, 1000},       {"flag", flags, 1000},
    {"region", regions, 20000},
};

static double processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double timed(const struct kernel *kernel)
{
    double begin = processor_ns();
    kernel->run(kernel->count);
    return processor_ns() - begin;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    const char *name = getenv("OSHBENCH_KERNEL");
    if (name == NULL)
        name = "gups";
    table = symmetric(WORDS * sizeof *table);
    target = symmetric(PUT);
    state = (uint64_t)me + 1;
    int batches = quick ? 21 : BATCHES;
    double more[BATCHES];
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        const struct kernel *kernel = &kernels[k];
        if (strcmp(kernel->name, name) != 0)
            continue;
        const char *turns = getenv("OSHBENCH_TURNS");
        for (long turn = turns == NULL ? 0 : atol(turns); turn > 0; turn--)
            kernel->run(kernel->count);
        if (turns != NULL)
            continue;
        /* The first calls, for which memory is set up, are no loop's. */
        kernel->run(kernel->count);
        for (int b = 0; b < batches; b++) {
            /* Each comes first as often as the other: whoever has just waited keeps its core for longer. */
            double took[2];
            for (int turn = 0; turn < 2; turn++) {
                int on = (turn + b) % 2;
                shmem_pcontrol(0);
                shmem_barrier_all();
                shmem_pcontrol(on);
                is_recorded = on;
                took[on] = timed(kernel);
            }
            more[b] = took[1] - took[0];
        }
        shmem_pcontrol(1);
        printf("cost %s %d %.0f\n", name, (batches + 1) * kernel->count, (batches + 1) * median(more, batches));
    }
    shmem_finalize();
    return 0;
}

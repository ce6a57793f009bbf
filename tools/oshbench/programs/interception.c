/*
 * What counting costs: shmem_X with the profile off and at level 1, against pshmem_X, from PE 0 to PE 1.
 * The three take turns batch by batch in one process.
 */
#include "shmem_bench.h"
#include "machine.h"
#include "interception.h"

#include <pshmem.h>
#include <shmemx.h>

#ifdef HAVE_TICKS
/* Nanoseconds of two reads of the time stamp counter, which a timed call cannot do without. */
static double two_time_stamps;
#endif

/* A profile that is not there costs nothing: that must not pass for a result. */
static void expect_profile(const char *level, double ns, double pshmem_ns)
{
#ifdef HAVE_TICKS
    if (strcmp(level, "timed") == 0 && ns < pshmem_ns + 0.5 * two_time_stamps) {
        fprintf(stderr, "interception: level 1 does not record: a timed call takes %.1f ns, pshmem_ %.1f ns\n", ns,
                pshmem_ns);
        shmem_global_exit(1);
    }
#else
    (void)level, (void)ns, (void)pshmem_ns;
#endif
}

static void report_call(const char *name, const char *level, size_t bytes, double ns, double pshmem_ns)
{
    char bench[64];
    struct timing t = {.ns = ns, .limit_ns = pshmem_ns};
    snprintf(bench, sizeof bench, "%s/%s", name, level);
    report(bench, "heap", bytes, npes, t, "pshmem");
}

#define BATCHES_OF(name, bytes, level, call)                                   \
    do {                                                                       \
        long calls;                                                            \
        double batch, bare[BATCHES], off[BATCHES], on[BATCHES];                \
        shmem_pcontrol(1);                                                     \
        CALIBRATE(calls, batch, shmem_##call, );                               \
        int batches = batches_for(3 * batch);                                  \
        for (int b = 0; b < batches; b++) {                                    \
            shmem_pcontrol(0);                                                 \
            bare[b] = TIME(calls, pshmem_##call, ) / (double)calls;            \
            off[b] = TIME(calls, shmem_##call, ) / (double)calls;              \
            shmem_pcontrol(1);                                                 \
            on[b] = TIME(calls, shmem_##call, ) / (double)calls;               \
        }                                                                      \
        double pshmem_ns = median(bare, batches);                              \
        double on_ns = median(on, batches);                                    \
        expect_profile(level, on_ns, pshmem_ns);                               \
        report_call(#name, "off", bytes, median(off, batches), pshmem_ns);     \
        report_call(#name, level, bytes, on_ns, pshmem_ns);                    \
    } while (0);

/* What a program that steers its profile pays for it. */
static void measure_control(void)
{
    struct timing t;
    char names[63][16];
    shmem_pcontrol(1);
    MEASURE(t, shmem_pcontrol(1), );
    report("pcontrol-same", "none", 0, npes, t, NULL);
    MEASURE(t, shmem_pcontrol(0); shmem_pcontrol(1), );
    t.ns /= 2;
    report("pcontrol-switch", "none", 0, npes, t, NULL);
    for (int i = 0; i < 63; i++) {
        snprintf(names[i], sizeof names[i], "region %d", i);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, names[i]);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, names[i]);
        if (i != 0 && i != 62)
            continue;
        MEASURE(t, shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, names[i]);
                shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, names[i]), );
        t.ns /= 2;
        report(i == 0 ? "region-of-1" : "region-of-63", "none", 0, npes, t, NULL);
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    budget_ns *= 2;
    long *word = symmetric(LONG_BYTES);
    static long near[LONG_BYTES / sizeof(long)];
    int pe = 1;
    shmem_barrier_all();
    if (me == 0) {
#ifdef HAVE_TICKS
        volatile uint64_t sink;
        struct timing t;
        MEASURE(t, sink = ticks(); sink = ticks(), );
        report("two_time_stamps", "none", 0, npes, t, NULL);
        two_time_stamps = t.ns;
        (void)sink;
#endif
        CALLS(BATCHES_OF)
        measure_control();
    }
    shmem_barrier_all();
    shmem_free(word);
    shmem_finalize();
    return 0;
}

/*
 * What the profile costs where programs feel it: rows with the profile off and on take turns, batch by batch, in one
 * process of each of two PEs. Run with a profile that is kept, which has call sites and peers too, the rows that are on
 * are called "kept".
 */
#include "shmem_bench.h"

#include <shmemx.h>

#define LARGEST 16384

static const char *level;
static long one, sums;
static long gathered[2];

/* Calls of a batch, the same on all PEs; those that take no part make none. */
static long calls_for(double ns_of_some, long some)
{
    double calls = BATCH_NS * (double)some / (ns_of_some + 1.0);
    return agree(calls < 4 ? 4 : calls > 1e6 ? 1000000 : (long)calls);
}

static void report_turns(const char *name, size_t bytes, double *off, double *on, int batches, double of_a_call)
{
    char bench[64];
    struct timing t = {.ns = median(on, batches) / of_a_call, .limit_ns = median(off, batches) / of_a_call};
    snprintf(bench, sizeof bench, "%s/%s", name, level);
    if (me == 0)
        report(bench, "heap", bytes, npes, t, "off");
}

/* `takes_part`: whether this PE makes the calls; `parts`: how many times of the row one turn of `body` is. */
#define IN_TURNS(name, bytes, takes_part, parts, body, tail)                                   \
    do {                                                                                       \
        double off_[BATCHES], on_[BATCHES];                                                    \
        shmem_pcontrol(1);                                                                     \
        shmem_barrier_all();                                                                   \
        double some_ = TIME((takes_part) ? 16 : 0, body, tail);                                \
        shmem_barrier_all();                                                                   \
        some_ = TIME((takes_part) ? 64 : 0, body, tail);                                       \
        long calls_ = calls_for(some_, 64);                                                    \
        /* The first calls take longer: by these alone a batch would be short. */              \
        for (int tries_ = 0; tries_ < 2; tries_++) {                                           \
            shmem_barrier_all();                                                               \
            some_ = TIME((takes_part) ? calls_ : 0, body, tail);                               \
            calls_ = calls_for(some_, calls_);                                                 \
        }                                                                                      \
        for (int b_ = 0; b_ < batches; b_++) {                                                 \
            shmem_barrier_all();                                                               \
            shmem_pcontrol(0);                                                                 \
            shmem_barrier_all();                                                               \
            off_[b_] = TIME((takes_part) ? calls_ : 0, body, tail) / (double)calls_;           \
            shmem_barrier_all();                                                               \
            shmem_pcontrol(1);                                                                 \
            shmem_barrier_all();                                                               \
            on_[b_] = TIME((takes_part) ? calls_ : 0, body, tail) / (double)calls_;            \
        }                                                                                      \
        shmem_barrier_all();                                                                   \
        report_turns(name, bytes, off_, on_, batches, parts);                                  \
    } while (0)

/* Routines that are all alike, of which each is called here only, as (type, symbol). */
#define ALIKE(ROW)                                                                                     \
    ROW(short, short) ROW(int, int) ROW(long long, longlong) ROW(unsigned char, uchar)                 \
    ROW(unsigned short, ushort) ROW(unsigned int, uint) ROW(unsigned long, ulong) ROW(unsigned long long, ulonglong) \
    ROW(float, float) ROW(double, double) ROW(signed char, schar)

#define FIRST_CALLS(type, symbol)                                                      \
    {                                                                                  \
        first[routines] = TIME(1, shmem_##symbol##_p((type *)word, (type)1, 1), );     \
        early[routines] = TIME(499, shmem_##symbol##_p((type *)word, (type)1, 1), ) / 499; \
        (void)TIME(100000, shmem_##symbol##_p((type *)word, (type)1, 1), );            \
        steady[routines] = TIME(100000, shmem_##symbol##_p((type *)word, (type)1, 1), ) / 1e5; \
        routines++;                                                                    \
    }

/* Before anything else is measured: what a routine's first calls cost. */
static void first_calls(long *word)
{
    double first[16], early[16], steady[16];
    int routines = 0;
    ALIKE(FIRST_CALLS)
    char bench[64];
    struct timing t = {.ns = median(first, routines)};
    snprintf(bench, sizeof bench, "first-call/%s", level);
    report(bench, "heap", 0, npes, t, NULL);
    t.ns = median(early, routines);
    t.limit_ns = median(steady, routines);
    snprintf(bench, sizeof bench, "calls-2-to-500/%s", level);
    report(bench, "heap", 0, npes, t, "later-calls");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    level = getenv("OSHBENCH_LEVEL") != NULL ? getenv("OSHBENCH_LEVEL") : "level1";
    char *there = symmetric(LARGEST);
    static char near[LARGEST];
    int batches = quick ? 21 : BATCHES, first = me == 0;
    if (first)
        first_calls((long *)there);
    shmem_barrier_all();
    IN_TURNS("ping-pong", 8, 1, 2, ping_pong(), );
    IN_TURNS("p", 8, first, 1, shmem_long_p((long *)there, 1, 1), );
    IN_TURNS("g", 8, first, 1, one = shmem_long_g((long *)there, 1), );
    IN_TURNS("fetch_add", 8, first, 1, shmem_long_atomic_fetch_add((long *)there, 1, 1), );
    for (size_t bytes = 2048; bytes <= LARGEST; bytes *= 2) {
        IN_TURNS("putmem", bytes, first, 1, shmem_putmem(there, near, bytes, 1), );
        IN_TURNS("getmem", bytes, first, 1, shmem_getmem(near, there, bytes, 1), );
        IN_TURNS("putmem_nbi", bytes, first, 1, shmem_putmem_nbi(there, near, bytes, 1), shmem_quiet());
        IN_TURNS("getmem_nbi", bytes, first, 1, shmem_getmem_nbi(near, there, bytes, 1), shmem_quiet());
    }
    /* The first thousands of a program are timed and kept each: of a long one fewer and fewer are. */
    for (int i = 0; i < (quick ? 20000 : 200000); i++)
        shmem_barrier_all();
    IN_TURNS("barrier", 0, 1, 1, shmem_barrier_all(), );
    IN_TURNS("sum", 8, 1, 1, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sums, &one, 1), );
    IN_TURNS("fcollect", 8, 1, 1, shmem_long_fcollect(SHMEM_TEAM_WORLD, gathered, &one, 1), );
    IN_TURNS("n_pes", 0, first, 1, shmem_n_pes(), );
    IN_TURNS("my_pe", 0, first, 1, shmem_my_pe(), );
    shmem_barrier_all();
    shmem_free(there);
    shmem_finalize();
    return 0;
}

/*
 * Times routines from outside, with clock_gettime, for comparison with what the profile says of them. Prints for
 * each PE:
 *
 *   before ROUTINE CALLS NANOSECONDS    what the profile has of the routine before it is timed here: one call or a few,
 *                                       that had the pages of the profile's memory made, which is not part of the
 *                                       routine's time
 *   outside ROUTINE CALLS NANOSECONDS   each call timed by itself, less what reading the clock takes
 *   batch ROUTINE CALLS NANOSECONDS     calls of nanoseconds, of which the profile times samples: as many as are in the
 *                                       profile, by the time that one takes among many with the profile off
 *   switches N                          how often another process took the processor
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MIB = 1 << 20, ROUNDS = 40, BATCH = 2000, BATCHES = 100 };
/* Calls of microseconds are made so many times as often. */
enum { OFTEN = 20 };

static uint64_t flag, ready, words[64];
static long i_;
static long sums[1 << 15], addends[1 << 15], lock;
static char here[4 * MIB];
static double clock_ns;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void pause_ms(int ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}

/* Adds the time of CALL to TOTAL. */
#define TIMED(total, call)                    \
    do {                                      \
        double begin_ = now();                \
        call;                                 \
        (total) += now() - begin_ - clock_ns; \
    } while (0)

static void report(const char *kind, const char *routine, long calls, double total)
{
    printf("%s %s %ld %.0f\n", kind, routine, calls, total);
}

/* What stands between two readings of the clock with nothing in between: the mean without the longest tenth. */
static double empty_interval(void)
{
    enum { TRIES = 10000 };
    static double tries[TRIES];
    double sum = 0;
    int kept = 0;
    for (int k = 0; k < TRIES; k++) {
        double begin = now();
        tries[k] = now() - begin;
        sum += tries[k];
    }
    double most = 2 * sum / TRIES;
    sum = 0;
    for (int k = 0; k < TRIES; k++)
        if (tries[k] < most) {
            sum += tries[k];
            kept++;
        }
    return kept ? sum / kept : 0;
}

/* Neither what is before nor what is behind overlaps with what is between two of these: as in the profile's samples. */
static inline void alone(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value of a variable of the profile. */
static long long value(const char *routine, const char *what)
{
    char name[128];
    int64_t value = 0;
    snprintf(name, sizeof name, "%s.%s", routine, what);
    int index = shmemx_var_find(name);
    if (index < 0 || shmemx_var_read(index, &value, 1) < 1) {
        fprintf(stderr, "there is no variable %s\n", name);
        shmem_global_exit(1);
    }
    return value;
}

static void before(const char *routine)
{
    printf("before %s %lld %lld\n", routine, value(routine, "calls"), value(routine, "time"));
}

/* Batches of CALL with the profile off, each followed by one with it on: the median time of those with it off, less
   that of as many times nothing. */
#define SHORT(routine, batches, call)                                              \
    do {                                                                           \
        static double off_[BATCHES], empty_[BATCHES];                              \
        call;                                                                      \
        before(routine);                                                           \
        for (int b_ = 0; b_ < (batches); b_++) {                                   \
            off_[b_] = empty_[b_] = 0;                                             \
            shmem_pcontrol(SHMEMX_PCONTROL_OFF);                                   \
            TIMED(off_[b_], for (i_ = 0; i_ < BATCH; i_++) { alone(); call; alone(); }); \
            TIMED(empty_[b_], for (i_ = 0; i_ < BATCH; i_++) { alone(); alone(); });     \
            shmem_pcontrol(SHMEMX_PCONTROL_DEFAULT);                               \
            for (i_ = 0; i_ < BATCH; i_++) { alone(); call; alone(); }         \
        }                                                                          \
        qsort(off_, (size_t)(batches), sizeof *off_, ascending);                   \
        qsort(empty_, (size_t)(batches), sizeof *empty_, ascending);               \
        double median_ = off_[(batches) / 2] - empty_[(batches) / 2];              \
        report("batch", routine, (long)(batches) * BATCH, median_ * (batches));    \
    } while (0)

int main(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    int rounds = quick ? ROUNDS / 4 : ROUNDS, batches = quick ? BATCHES / 4 : BATCHES;
    clock_ns = empty_interval();
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    char *there = shmem_malloc(4 * MIB);
    shmem_ctx_t ctx;
    if (there == NULL || shmem_ctx_create(0, &ctx) != 0)
        return 1;
    memset(here, 1, sizeof here);
    double put = 0, get = 0, some = 0, late = 0, wait = 0, sum = 0, send = 0, alloc = 0, gone = 0, held = 0, sent = 0;
    double small = 0;
    static const char *const ROUTINES[] = {
        "shmem_putmem", "shmem_getmem", "shmem_ctx_putmem", "shmem_ctx_getmem", "shmem_barrier_all", "shmem_malloc",
        "shmem_free", "shmem_signal_wait_until", "shmem_long_sum_reduce", "shmem_broadcastmem", "shmem_putmem_signal",
        "shmem_set_lock",
    };
    for (int k = 0; k < 2; k++) {
        shmem_putmem(there, here, 4 * MIB, next);
        shmem_getmem(here, there, 4 * MIB, next);
        shmem_ctx_putmem(ctx, there, here, MIB / 4, next);
        shmem_ctx_getmem(ctx, here, there, MIB, next);
        shmem_barrier_all();
        shmem_signal_wait_until(&flag, SHMEM_CMP_GE, 0);
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, addends, 1 << 15);
        shmem_broadcastmem(SHMEM_TEAM_WORLD, there, here, MIB, 0);
        shmem_putmem_signal(there, here, MIB, &ready, 1, SHMEM_SIGNAL_ADD, next);
        shmem_free(shmem_malloc(64));
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    for (size_t k = 0; k < sizeof ROUTINES / sizeof *ROUTINES; k++)
        before(ROUTINES[k]);
    for (int k = 0; k < rounds; k++) {
        TIMED(put, shmem_putmem(there, here, 4 * MIB, next));
        TIMED(get, shmem_getmem(here, there, 4 * MIB, next));
    }
    for (int k = 0; k < OFTEN * rounds; k++) {
        TIMED(small, shmem_ctx_putmem(ctx, there, here, MIB / 4, next));
        TIMED(some, shmem_ctx_getmem(ctx, here, there, MIB, next));
        TIMED(sent, shmem_putmem_signal(there, here, MIB, &ready, 1, SHMEM_SIGNAL_ADD, next));
    }
    for (int k = 0; k < rounds; k++) {
        if (me == k % npes)
            pause_ms(2);
        TIMED(late, shmem_barrier_all());
    }
    /* Each PE is released by the one before it; the first one is late. */
    for (int k = 1; k <= rounds; k++) {
        if (me != 0)
            TIMED(wait, shmem_signal_wait_until(&flag, SHMEM_CMP_GE, (uint64_t)k));
        else
            pause_ms(2);
        shmem_uint64_atomic_set(&flag, (uint64_t)k, next);
        shmem_team_sync(SHMEM_TEAM_WORLD);
    }
    for (int k = 0; k < OFTEN * rounds; k++) {
        TIMED(sum, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, addends, 1 << 15));
        TIMED(send, shmem_broadcastmem(SHMEM_TEAM_WORLD, there, here, MIB, 0));
    }
    /* A barrier of all is in each of these, and the pauses of the others. */
    for (int k = 0; k < rounds; k++) {
        void *more;
        if (me == k % npes)
            pause_ms(1);
        TIMED(alloc, more = shmem_malloc(64));
        if (me == k % npes)
            pause_ms(1);
        TIMED(gone, shmem_free(more));
    }
    for (int k = 0; k < rounds; k++) {
        TIMED(held, shmem_set_lock(&lock));
        pause_ms(1);
        shmem_clear_lock(&lock);
        shmem_team_sync(SHMEM_TEAM_WORLD);
    }
    report("outside", "shmem_putmem", rounds, put);
    report("outside", "shmem_getmem", rounds, get);
    report("outside", "shmem_ctx_putmem", OFTEN * rounds, small);
    report("outside", "shmem_ctx_getmem", OFTEN * rounds, some);
    report("outside", "shmem_putmem_signal", OFTEN * rounds, sent);
    report("outside", "shmem_barrier_all", rounds, late);
    if (me != 0)
        report("outside", "shmem_signal_wait_until", rounds, wait);
    report("outside", "shmem_long_sum_reduce", OFTEN * rounds, sum);
    report("outside", "shmem_broadcastmem", OFTEN * rounds, send);
    report("outside", "shmem_malloc", rounds, alloc);
    report("outside", "shmem_free", rounds, gone);
    report("outside", "shmem_set_lock", rounds, held);

    SHORT("shmem_long_put", batches, shmem_long_put(sums, addends, 128, next));
    SHORT("shmem_long_get", batches, shmem_long_get(addends, sums, 64, next));
    SHORT("shmem_ctx_uint64_p", batches, shmem_ctx_uint64_p(ctx, &words[i_ % 64], 1, next));
    SHORT("shmem_uint64_g", batches, shmem_uint64_g(&words[i_ % 64], next));
    SHORT("shmem_uint64_atomic_add", batches, shmem_uint64_atomic_add(&words[me % 64], 1, me));
    SHORT("shmem_uint64_atomic_fetch_add", batches, shmem_uint64_atomic_fetch_add(&words[me % 64], 1, me));
    SHORT("shmem_quiet", batches, shmem_quiet());
    SHORT("shmem_ctx_fence", batches, shmem_ctx_fence(ctx));
    SHORT("shmem_uint64_test", batches, shmem_uint64_test(&words[63], SHMEM_CMP_LT, 0));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("switches %ld\n", usage.ru_nivcsw);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}

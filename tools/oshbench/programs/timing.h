/*
 * Timing of short operations: batches of calls between two clock reads, the median over many batches.
 *
 * A batch is long enough (BATCH_NS) that the clock reads vanish in it and short enough that an interrupt or another
 * process spoils few of them. Where a limit is given, its batches alternate with those of the operation, so both see
 * the same machine.
 */
#ifndef OSHBENCH_TIMING_H
#define OSHBENCH_TIMING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES 101
#define BATCH_NS 50e3

/* Nanoseconds that one measurement may take; --quick lowers it. */
static double budget_ns = 20e6;

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* What was written before stays written and what is read after is read: nothing moves out of a loop. */
#define KEEP() __asm__ volatile("" ::: "memory")

/* Nanoseconds for n times `body`, then `tail` once. `i_` counts. */
#define TIME(n, body, tail)                            \
    ({                                                 \
        double start_ = now_ns();                      \
        for (long i_ = 0, n_ = (n); i_ < n_; i_++) {   \
            body;                                      \
            KEEP();                                    \
        }                                              \
        tail;                                          \
        now_ns() - start_;                             \
    })

struct timing {
    double ns;       /* one operation; negative: not measured */
    double limit_ns; /* what it is compared with */
};

static int ascending_(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending_);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

static inline int batches_for(double batch_ns)
{
    double fit = budget_ns / (batch_ns + 1.0);
    return fit < 5 ? 5 : fit > BATCHES ? BATCHES : (int)fit;
}

/* Calls that fill a batch. The better of two tries, so that a first call that sets something up does not count. */
#define CALIBRATE(calls, batch, body, tail)                                     \
    for ((calls) = 1;; (calls) *= 2) {                                          \
        double first_ = TIME(calls, body, tail), again_ = TIME(calls, body, tail); \
        (batch) = first_ < again_ ? first_ : again_;                            \
        if ((batch) >= BATCH_NS)                                                \
            break;                                                              \
    }

/* On one PE: fills a struct timing. */
#define MEASURE_AGAINST(t, body, tail, limit_body)                              \
    do {                                                                        \
        long calls_, limit_calls_;                                              \
        double batch_, limit_batch_;                                            \
        CALIBRATE(calls_, batch_, body, tail);                                  \
        CALIBRATE(limit_calls_, limit_batch_, limit_body, );                    \
        double of_[BATCHES], limit_of_[BATCHES];                                \
        int batches_ = batches_for(batch_ + limit_batch_);                      \
        for (int b_ = 0; b_ < batches_; b_++) {                                 \
            of_[b_] = TIME(calls_, body, tail) / (double)calls_;                \
            limit_of_[b_] = TIME(limit_calls_, limit_body, ) / (double)limit_calls_; \
        }                                                                       \
        (t).ns = median(of_, batches_);                                         \
        (t).limit_ns = median(limit_of_, batches_);                             \
    } while (0)

/* The same with nothing to compare with. */
#define MEASURE(t, body, tail)                                                  \
    do {                                                                        \
        long calls_;                                                            \
        double batch_;                                                          \
        CALIBRATE(calls_, batch_, body, tail);                                  \
        double of_[BATCHES];                                                    \
        int batches_ = batches_for(batch_);                                     \
        for (int b_ = 0; b_ < batches_; b_++)                                   \
            of_[b_] = TIME(calls_, body, tail) / (double)calls_;                \
        (t).ns = median(of_, batches_);                                         \
    } while (0)

/* One line of result, read by the driver. `limit` is the name of what t.limit_ns is, or NULL. */
static inline void report(const char *bench, const char *memory, size_t bytes, int pes, struct timing t,
                          const char *limit)
{
    printf("oshbench bench=%s memory=%s bytes=%zu pes=%d ns=%.4f", bench, memory, bytes, pes, t.ns);
    if (limit != NULL)
        printf(" limit=%s limit_ns=%.4f", limit, t.limit_ns);
    putchar('\n');
    fflush(stdout);
}

static inline int quick_asked(int argc, char **argv)
{
    int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    if (quick)
        budget_ns = 4e6;
    return quick;
}

#endif

/* What the SHMEM programs share. Portable from OpenSHMEM 1.4 on: what 1.5 changed is behind TEAMS. */
#ifndef OSHBENCH_SHMEM_BENCH_H
#define OSHBENCH_SHMEM_BENCH_H

#include <shmem.h>
#include <unistd.h>

#include "timing.h"

#define TEAMS (SHMEM_MAJOR_VERSION > 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5))

static int me, npes;
static __attribute__((unused)) int quick;

static inline void start(int argc, char **argv)
{
    quick = quick_asked(argc, argv);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
}

static inline void *symmetric(size_t bytes)
{
    void *p = shmem_align(4096, bytes);
    if (p == NULL) {
        fprintf(stderr, "PE %d: no %zu bytes on the symmetric heap\n", me, bytes);
        shmem_global_exit(1);
    }
    memset(p, 1, bytes);
    return p;
}

static inline void need(int pes)
{
    if (npes != pes) {
        fprintf(stderr, "this program takes %d PEs, not %d\n", pes, npes);
        shmem_global_exit(2);
    }
}

/* The counterpart of a symmetric object on another PE for plain loads and stores; the own one where the library gives
 * none, which costs the same to copy to. */
static inline void *reach(void *object, int pe)
{
    void *there = shmem_ptr(object, pe);
    return there != NULL ? there : object;
}

/* The value that PE 0 gives, on every PE. */
static inline long agree(long value)
{
    static long agreed;
    if (me == 0) {
        for (int pe = 0; pe < npes; pe++)
            shmem_long_p(&agreed, value, pe);
    }
    shmem_barrier_all();
    long result = agreed;
    shmem_barrier_all();
    return result;
}

/* A flag goes from PE 0 to PE 1 and back. */
static inline void ping_pong(void)
{
    /* Alone in its lines, of which processors fetch two at a time: only the flag goes between the cores. */
    static struct {
        _Alignas(128) long flag;
        _Alignas(128) long count;
    } at;
    at.count++;
    if (me == 0)
        shmem_long_p(&at.flag, at.count, 1);
    shmem_long_wait_until(&at.flag, SHMEM_CMP_EQ, at.count);
    if (me == 1)
        shmem_long_p(&at.flag, at.count, 0);
}

/* Operations that all PEs take part in: as MEASURE, timed by PE 0, with the number of calls agreed on. */
#define MEASURE_TOGETHER(t, batch_ns_, body)                                        \
    do {                                                                            \
        long calls_ = 2;                                                            \
        double once_;                                                               \
        for (;;) {                                                                  \
            shmem_barrier_all();                                                    \
            once_ = TIME(calls_, body, );                                           \
            long next_ = agree(once_ < (batch_ns_) ? 2 * calls_ : calls_);          \
            if (next_ == calls_)                                                    \
                break;                                                              \
            calls_ = next_;                                                         \
        }                                                                           \
        double of_[BATCHES];                                                        \
        int batches_ = (int)agree(batches_for(once_));                              \
        for (int b_ = 0; b_ < batches_; b_++) {                                     \
            shmem_barrier_all();                                                    \
            of_[b_] = TIME(calls_, body, ) / (double)calls_;                        \
        }                                                                           \
        (t).ns = median(of_, batches_);                                             \
        shmem_barrier_all();                                                        \
    } while (0)

#endif

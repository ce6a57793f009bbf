/*
 * Atomic operations of PE 0 on a word of PE 1, alone on heap and static objects; then of both PEs on one word.
 * `add` and `set` are the rate of operations that nothing waits for; `add+quiet` is the time until one is done.
 */
#include "shmem_bench.h"
#include "machine.h"

static long static_word[16];

/* Each operation on the heap and at once on static objects: what slows the machine for a while slows both. */
#define ON_BOTH(name, body, tail, limit_body, limit)       \
    for (int m = 0; m < 2; m++) {                          \
        const char *memory = m == 0 ? "heap" : "static";   \
        long *there = m == 0 ? heap_word : static_word;    \
        long *raw = reach(there, 1);                       \
        struct timing t;                                   \
        MEASURE_AGAINST(t, body, tail, limit_body);        \
        report(name, memory, 8, npes, t, limit);           \
    }

static void alone(long *heap_word)
{
    volatile long sink;

    ON_BOTH("fetch_add", sink = shmem_long_atomic_fetch_add(there, 1, 1), , sink = bare_xadd(raw, 1), XADD_NAME)
    ON_BOTH("fetch_inc", sink = shmem_long_atomic_fetch_inc(there, 1), , sink = bare_xadd(raw, 1), XADD_NAME)
    ON_BOTH("add", shmem_long_atomic_add(there, 1, 1), shmem_quiet(), sink = bare_xadd(raw, 1), XADD_NAME)
    ON_BOTH("add+quiet", shmem_long_atomic_add(there, 1, 1); shmem_quiet(), , sink = bare_xadd(raw, 1), XADD_NAME)
    ON_BOTH("compare_swap", sink = shmem_long_atomic_compare_swap(there, i_, i_ + 1, 1), ,
            sink = bare_cmpxchg(raw, i_, i_ + 1), CMPXCHG_NAME)
    ON_BOTH("swap", sink = shmem_long_atomic_swap(there, i_, 1), , sink = bare_xchg(raw, i_), XCHG_NAME)
    ON_BOTH("fetch", sink = shmem_long_atomic_fetch(there, 1), , sink = *(volatile long *)raw, "load")
    ON_BOTH("set", shmem_long_atomic_set(there, i_, 1), shmem_quiet(), sink = bare_xchg(raw, i_), XCHG_NAME)
    (void)sink;
}

/* Both PEs at once: the time of one of PE 0's operations. */
static void contended(long *there)
{
    volatile long sink;
    struct timing t, limit;
    long *raw = shmem_ptr(there, 1);

    MEASURE_TOGETHER(t, 200e3, sink = shmem_long_atomic_fetch_add(there, 1, 1));
    int direct = (int)agree(raw != NULL);
    if (direct) {
        MEASURE_TOGETHER(limit, 200e3, sink = bare_xadd(raw, 1));
        t.limit_ns = limit.ns;
    }
    if (me == 0)
        report("fetch_add_contended", "heap", 8, npes, t, direct ? XADD_NAME "_contended" : NULL);
    (void)sink;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    long *heap_word = symmetric(4096);
    shmem_barrier_all();
    if (me == 0)
        alone(heap_word);
    shmem_barrier_all();
    contended(heap_word);
    shmem_free(heap_word);
    shmem_finalize();
    return 0;
}

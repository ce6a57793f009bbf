/*
 * Latency of single 8-byte transfers from PE 0 to PE 1, and of one strided transfer, on heap and static objects.
 * PE 1 waits in a barrier meanwhile.
 */
#include "shmem_bench.h"
#include "machine.h"

#define STRIDED 1024

static long static_words[2 * STRIDED];
static long local_words[2 * STRIDED];

/* Each operation on the heap and at once on static objects: what slows the machine for a while slows both. */
#define ON_BOTH(name, bytes, body, tail, limit_body, limit)         \
    for (int m = 0; m < 2; m++) {                                   \
        const char *memory = m == 0 ? "heap" : "static";            \
        long *there = m == 0 ? heap_words : static_words;           \
        long *raw = reach(there, 1);                                \
        struct timing t;                                            \
        MEASURE_AGAINST(t, body, tail, limit_body);                 \
        report(name, memory, bytes, npes, t, limit);                \
    }

static void transfers(long *heap_words)
{
    long *here = local_words;
    volatile long sink;

    ON_BOTH("p", 8, shmem_long_p(there, i_, 1), shmem_quiet(), memcpy_call(raw, here, 8), "memcpy_call")
    ON_BOTH("g", 8, sink = shmem_long_g(there, 1), , memcpy_call(here, raw, 8), "memcpy_call")
    ON_BOTH("put", 8, shmem_long_put(there, here, 1, 1), shmem_quiet(), memcpy_call(raw, here, 8), "memcpy_call")
    ON_BOTH("get", 8, shmem_long_get(here, there, 1, 1), , memcpy_call(here, raw, 8), "memcpy_call")
    ON_BOTH("put+quiet", 8, shmem_long_put(there, here, 1, 1); shmem_quiet(), , memcpy_call(raw, here, 8),
            "memcpy_call")
    ON_BOTH("put_nbi", 8, shmem_long_put_nbi(there, here, 1, 1), shmem_quiet(), memcpy_call(raw, here, 8),
            "memcpy_call")
    ON_BOTH("putmem", 8, shmem_putmem(there, here, 8, 1), shmem_quiet(), memcpy_call(raw, here, 8), "memcpy_call")

    ON_BOTH("iput", 8 * STRIDED, shmem_long_iput(there, here, 2, 1, STRIDED, 1), shmem_quiet(),
            strided_copy(raw, 2, here, 1, STRIDED), "strided_loop")
    ON_BOTH("iget", 8 * STRIDED, shmem_long_iget(here, there, 1, 2, STRIDED, 1), ,
            strided_copy(here, 1, raw, 2, STRIDED), "strided_loop")
    (void)sink;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    long *heap_words = symmetric(sizeof static_words);
    memset(static_words, 1, sizeof static_words);
    memset(local_words, 1, sizeof local_words);
    shmem_barrier_all();
    if (me == 0)
        transfers(heap_words);
    shmem_barrier_all();
    shmem_free(heap_words);
    shmem_finalize();
    return 0;
}

/*
 * Latency of single 8-byte transfers from PE 0 to PE 1, and of one strided transfer, on heap and static objects.
 * PE 1 waits in a barrier meanwhile.
 */
#include "shmem_bench.h"
#include "machine.h"

#define STRIDED 1024

static long static_words[2 * STRIDED];
static long local_words[2 * STRIDED];

static void transfers(const char *memory, long *there)
{
    long *source = local_words;
    long *raw = reach(there, 1);
    volatile long sink;
    struct timing t;

    MEASURE_AGAINST(t, shmem_long_p(there, i_, 1), shmem_quiet(), memcpy_call(raw, source, 8));
    report("p", memory, 8, npes, t, "memcpy_call");
    MEASURE_AGAINST(t, sink = shmem_long_g(there, 1), , memcpy_call(source, raw, 8));
    report("g", memory, 8, npes, t, "memcpy_call");
    MEASURE_AGAINST(t, shmem_long_put(there, source, 1, 1), shmem_quiet(), memcpy_call(raw, source, 8));
    report("put", memory, 8, npes, t, "memcpy_call");
    MEASURE_AGAINST(t, shmem_long_get(source, there, 1, 1), , memcpy_call(source, raw, 8));
    report("get", memory, 8, npes, t, "memcpy_call");
    MEASURE_AGAINST(t, shmem_long_put(there, source, 1, 1); shmem_quiet(), , memcpy_call(raw, source, 8));
    report("put+quiet", memory, 8, npes, t, "memcpy_call");
    MEASURE_AGAINST(t, shmem_long_put_nbi(there, source, 1, 1), shmem_quiet(), memcpy_call(raw, source, 8));
    report("put_nbi", memory, 8, npes, t, "memcpy_call");
    MEASURE_AGAINST(t, shmem_putmem(there, source, 8, 1), shmem_quiet(), memcpy_call(raw, source, 8));
    report("putmem", memory, 8, npes, t, "memcpy_call");

    MEASURE_AGAINST(t, shmem_long_iput(there, source, 2, 1, STRIDED, 1), shmem_quiet(), strided_copy(raw, 2, source, 1, STRIDED));
    report("iput", memory, 8 * STRIDED, npes, t, "strided_loop");
    MEASURE_AGAINST(t, shmem_long_iget(source, there, 1, 2, STRIDED, 1), , strided_copy(source, 1, raw, 2, STRIDED));
    report("iget", memory, 8 * STRIDED, npes, t, "strided_loop");
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
    if (me == 0) {
        transfers("heap", heap_words);
        transfers("static", static_words);
    }
    shmem_barrier_all();
    shmem_free(heap_words);
    shmem_finalize();
    return 0;
}

/* Two PEs that reach each other over a network only: latencies of 8 bytes, strided transfers, rates, bandwidth. */
#include "shmem_bench.h"

#define BLOCK ((size_t)1 << 20)
#define WINDOW 16
#define PUTS 512
#define STRIDE 2

static long *flag, *word;
static char *block;

/* 8 bytes to the other PE and 8 bytes back. */
static void ping(void)
{
    static long round_number;
    round_number++;
    if (me == 1)
        shmem_long_wait_until(flag, SHMEM_CMP_GE, round_number);
    shmem_long_p(flag, round_number, 1 - me);
    if (me == 0)
        shmem_long_wait_until(flag, SHMEM_CMP_GE, round_number);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    flag = symmetric(4096);
    word = symmetric(PUTS * sizeof *word);
    block = symmetric(BLOCK);
    char *source = symmetric(BLOCK);
    long *values = symmetric(PUTS * sizeof *values);
    *flag = 0;
    shmem_barrier_all();
    struct timing t = {0};
    budget_ns = 300e6;

    MEASURE_TOGETHER(t, 2e6, ping());
    t.ns /= 2;
    if (me == 0) {
        report("net-put", "heap", 8, npes, t, NULL);
        long sink = 0;
        MEASURE(t, sink += shmem_long_g(word, 1), );
        report("net-get", "heap", 8, npes, t, NULL);
        MEASURE(t, sink += shmem_long_atomic_fetch_add(word, 1, 1), );
        report("net-fetch_add", "heap", 8, npes, t, NULL);
        MEASURE(t, {
            for (int i = 0; i < PUTS; i++)
                shmem_long_put(&word[i], &values[i], 1, 1);
            shmem_quiet();
        }, );
        t.ns /= PUTS;
        report("net-put-rate", "heap", 8, npes, t, NULL);
        MEASURE(t, {
            for (int i = 0; i < PUTS; i++)
                shmem_long_put_nbi(&word[i], &values[i], 1, 1);
            shmem_quiet();
        }, );
        t.ns /= PUTS;
        report("net-put_nbi-rate", "heap", 8, npes, t, NULL);
        MEASURE(t, {
            for (int i = 0; i < PUTS; i++)
                shmem_long_get_nbi(&values[i], &word[i], 1, 1);
            shmem_quiet();
        }, );
        t.ns /= PUTS;
        report("net-get_nbi-rate", "heap", 8, npes, t, NULL);
        MEASURE(t, {
            for (int i = 0; i < WINDOW; i++)
                shmem_putmem_nbi(block, source, BLOCK, 1);
            shmem_quiet();
        }, );
        t.ns /= WINDOW;
        report("net-put-bw", "heap", BLOCK, npes, t, NULL);
        MEASURE(t, shmem_long_iget(values, word, STRIDE, STRIDE, PUTS / STRIDE, 1), );
        report("net-iget", "heap", PUTS / STRIDE * sizeof *word, npes, t, NULL);
        MEASURE(t, {
            shmem_long_iput(word, values, STRIDE, STRIDE, PUTS / STRIDE, 1);
            shmem_quiet();
        }, );
        report("net-iput+quiet", "heap", PUTS / STRIDE * sizeof *word, npes, t, NULL);
        if (sink == 42)
            printf("\n");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

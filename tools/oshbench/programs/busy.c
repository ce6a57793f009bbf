/*
 * Operations on a PE that computes and does not call the library: the longest of some put + quiet, get and fetch-add of
 * PE 0 while PE 1 computes. A library that needs the target's help shows the whole time the target computes.
 */
#include "shmem_bench.h"

#define SAMPLES 16

static long static_word[16];
static long static_cell[16];

static double window_ns = 200e6;

/* Arithmetic with no call into the library until the time is up. */
static double compute(double ns)
{
    double end = now_ns() + ns;
    double x = 1.0;
    while (now_ns() < end) {
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
        KEEP();
    }
    return x;
}

static void operation(int which, long *word, long *cell)
{
    long value = 7;
    switch (which) {
    case 0:
        shmem_long_put(cell, &value, 1, 1);
        shmem_quiet();
        break;
    case 1:
        shmem_long_get(&value, cell, 1, 1);
        break;
    default:
        shmem_long_atomic_fetch_add(word, 1, 1);
    }
}

static void against_busy(const char *memory, long *word, long *cell, long *started)
{
    static const char *name[] = {"busy-put+quiet", "busy-get", "busy-fetch_add"};
    static long window;
    volatile double result;

    for (int which = 0; which < 3; which++) {
        window++;
        if (me == 0)
            operation(which, word, cell); /* the first of its kind may set something up */
        shmem_barrier_all();
        if (me == 1) {
            shmem_long_p(started, window, 0);
            shmem_quiet();
            result = compute(window_ns);
        } else {
            shmem_long_wait_until(started, SHMEM_CMP_GE, window);
            struct timing t = {.ns = 0};
            for (int s = 0; s < SAMPLES; s++) {
                double pause = now_ns() + window_ns / (4 * SAMPLES);
                while (now_ns() < pause) {
                }
                double took = now_ns();
                operation(which, word, cell);
                took = now_ns() - took;
                t.ns = took > t.ns ? took : t.ns;
            }
            report(name[which], memory, 8, npes, t, NULL);
        }
        shmem_barrier_all();
    }
    (void)result;
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    if (quick)
        window_ns = 50e6;
    long *heap = symmetric(3 * 4096);
    memset(heap, 0, 3 * 4096);
    shmem_barrier_all();
    against_busy("heap", heap, heap + 512, heap + 1024);
    against_busy("static", static_word, static_cell, heap + 1024);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}

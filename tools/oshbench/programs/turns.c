/*
 * What the profile costs a program of nothing but random updates (as examples/gups): the same updates with the profile
 * off and at level 1 take turns in one process, so that both see the same machine. The large table does not fit into
 * the caches: how many updates the processor has under way then depends on how many instructions each takes.
 */
#include "shmem_bench.h"

#include <shmemx.h>
#include <stdint.h>

#define UPDATES 50000

static uint64_t state;

static inline uint64_t next_random(void)
{
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Nanoseconds of an update of a random word of a random PE. */
static double updates(unsigned long *table, size_t words)
{
    double begin = now_ns();
    for (int u = 0; u < UPDATES; u++) {
        uint64_t r = next_random();
        shmem_atomic_xor(&table[r & (words - 1)], (unsigned long)r, (int)(((r >> 32) * (uint64_t)npes) >> 32));
    }
    return (now_ns() - begin) / UPDATES;
}

static void in_turns(const char *name, size_t words)
{
    unsigned long *table = symmetric(words * sizeof *table);
    double off[BATCHES], on[BATCHES], traced[BATCHES];
    int batches = quick ? 21 : BATCHES;
    shmem_barrier_all();
    for (int b = 0; b < batches; b++) {
        shmem_pcontrol(0);
        off[b] = updates(table, words);
        shmem_pcontrol(1);
        on[b] = updates(table, words);
        shmem_pcontrol(SHMEMX_PCONTROL_TRACE_ON);
        traced[b] = updates(table, words);
        shmem_pcontrol(SHMEMX_PCONTROL_TRACE_OFF);
    }
    shmem_barrier_all();
    shmem_free(table);
    if (me != 0)
        return;
    char bench[64];
    struct timing t = {.ns = median(on, batches), .limit_ns = median(off, batches)};
    snprintf(bench, sizeof bench, "%s-update/level1", name);
    report(bench, "heap", sizeof *table, npes, t, "off");
    t.ns = median(traced, batches);
    snprintf(bench, sizeof bench, "%s-update/trace", name);
    report(bench, "heap", sizeof *table, npes, t, "off");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    state = (uint64_t)me;
    in_turns("small", 1 << 12);
    in_turns("large", 1 << 24);
    shmem_finalize();
    return 0;
}

/* What the machine gives without any library: copies, atomic instructions, a cache line between cores, a clock read. */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "timing.h"
#include "machine.h"

#define LARGEST ((size_t)16 << 20)

static void copies(void)
{
    char *to = aligned_alloc(4096, LARGEST);
    char *from = aligned_alloc(4096, LARGEST);
    if (to == NULL || from == NULL) {
        fprintf(stderr, "limits: no memory\n");
        exit(1);
    }
    memset(to, 1, LARGEST);
    memset(from, 2, LARGEST);

    struct timing t;
    static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, 1048576, 4194304, LARGEST};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        MEASURE(t, memcpy_call(to, from, n), );
        report("memcpy", "private", n, 1, t, NULL);
        if (n < 262144)
            continue;
#ifdef HAVE_STREAM
        MEASURE(t, stream_copy(to, from, n), );
        report("streaming", "private", n, 1, t, NULL);
#endif
#ifdef HAVE_MOVSB
        MEASURE(t, movsb_copy(to, from, n), );
        report("rep_movsb", "private", n, 1, t, NULL);
#endif
    }
    free(from);
    free(to);
}

static void instructions(void)
{
    static long word;
    volatile long sink;
    struct timing t;
    MEASURE(t, sink = bare_xadd(&word, 1), );
    report(XADD_NAME, "private", 8, 1, t, NULL);
    MEASURE(t, sink = bare_xchg(&word, 1), );
    report(XCHG_NAME, "private", 8, 1, t, NULL);
    MEASURE(t, sink = bare_cmpxchg(&word, 1, 2), );
    report(CMPXCHG_NAME, "private", 8, 1, t, NULL);
#ifdef HAVE_TICKS
    MEASURE(t, sink = (long)ticks(), );
    report("rdtsc", "none", 0, 1, t, NULL);
#endif
    MEASURE(t, sink = (long)now_ns(), );
    report("clock_gettime", "none", 0, 1, t, NULL);
    MEASURE(t, sched_yield(), );
    report("sched_yield", "none", 0, 1, t, NULL);
    (void)sink;
}

/* Each on a line of its own, far from the others. */
static struct {
    _Alignas(4096) volatile long ping;
    _Alignas(4096) volatile long pong;
    _Alignas(4096) volatile int stop;
} lines;

static void bind_to(int nth)
{
    cpu_set_t may, one;
    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof may, &may);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &may) && nth-- == 0) {
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
    }
}

static void *answer(void *unused)
{
    bind_to(1);
    long seen = 0;
    while (!lines.stop) {
        if (lines.ping != seen) {
            seen = lines.ping;
            lines.pong = seen;
        }
    }
    return unused;
}

static void cache_line(void)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return;
    pthread_t other;
    if (pthread_create(&other, NULL, answer, NULL) != 0)
        return;
    bind_to(0);
    struct timing t;
    long n = 0;
    MEASURE(t, lines.ping = ++n; while (lines.pong != n) {}, );
    lines.stop = 1;
    pthread_join(other, NULL);
    report("cache_line_round_trip", "private", 8, 2, t, NULL);
}

int main(int argc, char **argv)
{
    quick_asked(argc, argv);
    instructions();
    copies();
    cache_line();
    return 0;
}

/*
 * putmem and getmem from 8 B to 16 MiB between PE 0 and PE 1, on heap and static objects; ns of one transfer.
 *
 * The limit copies between the very same buffers with the best the machine has: memcpy, and for more than 1 MiB also
 * stores that bypass the caches and `rep movsb`.
 */
#include "shmem_bench.h"
#include "machine.h"

#define LARGEST ((size_t)16 << 20)
#define SEVERAL ((size_t)1 << 20) /* above this all ways to copy are tried */

static char static_near[LARGEST] __attribute__((aligned(4096)));
static char static_far[LARGEST] __attribute__((aligned(4096)));

static const size_t sizes[] = {8, 64, 512, 4096, 32768, 262144, 1048576, 4194304, LARGEST};

/* Where data goes: the library's names of both ends, and the memory that a plain copy reaches them by. */
struct ends {
    char *to, *raw_to;
    const char *from, *raw_from;
};

static void put(void *to, const void *from, size_t n)
{
    shmem_putmem(to, from, n, 1);
    shmem_quiet();
}

static void get(void *to, const void *from, size_t n)
{
    shmem_getmem(to, from, n, 1);
}

static void plain_copy(void *to, const void *from, size_t n)
{
    memcpy_call(to, from, n);
}

/* A copy that finds the caches as the same copy left them. */
static double second_of_two(void (*copy)(void *, const void *, size_t), void *to, const void *from, size_t n)
{
    copy(to, from, n);
    return TIME(1, copy(to, from, n), );
}

/* Large transfers: the operation and every way to copy take turns, and the fastest copy is the limit. */
static void large(const char *name, void (*operation)(void *, const void *, size_t), const char *memory, struct ends e,
                  size_t n)
{
    static const struct {
        const char *name;
        void (*copy)(void *, const void *, size_t);
    } ways[] = {
        {"memcpy", plain_copy},
#ifdef HAVE_STREAM
        {"streaming", stream_copy},
#endif
#ifdef HAVE_MOVSB
        {"rep_movsb", movsb_copy},
#endif
    };
    enum { WAYS = sizeof ways / sizeof ways[0] };
    double of[BATCHES], way_of[WAYS][BATCHES];

    int batches = batches_for(2 * (1 + WAYS) * second_of_two(operation, e.to, e.from, n));
    for (int b = 0; b < batches; b++) {
        of[b] = second_of_two(operation, e.to, e.from, n);
        for (int w = 0; w < WAYS; w++)
            way_of[w][b] = second_of_two(ways[w].copy, e.raw_to, e.raw_from, n);
    }

    struct timing t = {.ns = median(of, batches)};
    const char *limit = NULL;
    for (int w = 0; w < WAYS; w++) {
        double ns = median(way_of[w], batches);
        if (limit == NULL || ns < t.limit_ns) {
            t.limit_ns = ns;
            limit = ways[w].name;
        }
    }
    report(name, memory, n, npes, t, limit);
}

static void sweep(const char *memory, char *near, char *far)
{
    char *raw = reach(far, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        struct timing t;
        if (n > SEVERAL) {
            budget_ns *= 4;
            large("putmem-bw", put, memory, (struct ends){.to = far, .raw_to = raw, .from = near, .raw_from = near}, n);
            large("getmem-bw", get, memory, (struct ends){.to = near, .raw_to = near, .from = far, .raw_from = raw}, n);
            budget_ns /= 4;
            continue;
        }
        MEASURE_AGAINST(t, shmem_putmem(far, near, n, 1), shmem_quiet(), memcpy_call(raw, near, n));
        report("putmem-bw", memory, n, npes, t, "memcpy");
        MEASURE_AGAINST(t, shmem_getmem(near, far, n, 1), , memcpy_call(near, raw, n));
        report("getmem-bw", memory, n, npes, t, "memcpy");
    }
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    char *heap_near = symmetric(LARGEST);
    char *heap_far = symmetric(LARGEST);
    memset(static_near, 1, LARGEST);
    memset(static_far, 1, LARGEST);
    shmem_barrier_all();
    if (me == 0) {
        sweep("heap", heap_near, heap_far);
        sweep("static", static_near, static_far);
    }
    shmem_barrier_all();
    shmem_free(heap_far);
    shmem_free(heap_near);
    shmem_finalize();
    return 0;
}

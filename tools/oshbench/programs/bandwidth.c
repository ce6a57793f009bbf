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

static const char *faster(const char *best, struct timing *t, const char *name, double ns)
{
    if (ns >= t->limit_ns)
        return best;
    t->limit_ns = ns;
    return name;
}

/* `to` and `from`: what the limits copy between. */
static void other_copies(char *to, const char *from, size_t n, struct timing *t, const char **limit)
{
    struct timing other;
#ifdef HAVE_STREAM
    MEASURE(other, stream_copy(to, from, n), );
    *limit = faster(*limit, t, "streaming", other.ns);
#endif
#ifdef HAVE_MOVSB
    MEASURE(other, movsb_copy(to, from, n), );
    *limit = faster(*limit, t, "rep_movsb", other.ns);
#endif
    (void)other;
    (void)to;
    (void)from;
    (void)n;
    (void)t;
    (void)limit;
}

static void sweep(const char *memory, char *near, char *far)
{
    char *raw = reach(far, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t n = sizes[i];
        struct timing t;

        MEASURE_AGAINST(t, shmem_putmem(far, near, n, 1), shmem_quiet(), memcpy_call(raw, near, n));
        const char *limit = "memcpy";
        if (n > SEVERAL)
            other_copies(raw, near, n, &t, &limit);
        report("putmem-bw", memory, n, npes, t, limit);

        MEASURE_AGAINST(t, shmem_getmem(near, far, n, 1), , memcpy_call(near, raw, n));
        limit = "memcpy";
        if (n > SEVERAL)
            other_copies(near, raw, n, &t, &limit);
        report("getmem-bw", memory, n, npes, t, limit);
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

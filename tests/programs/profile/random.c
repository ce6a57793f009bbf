/* Random calls with known counts and known delays: random SEED CALLS THREADS VICTIM. Each thread draws its own; the
   first of each PE meets the others four times, and one that is drawn comes late. What has been done is printed at the
   end:
     count ROUTINE CALLS BYTES            size ROUTINE LEAST CALLS BYTES, by powers of two
     cell PE CALLS BYTES                  region NAME ENTRIES CALLS BYTES, but for the calls that begin and end regions
     time ROUTINE NS, by its own clock    arrive MEETING NS, leave MEETING NS, on a clock that all PEs of a host share
   VICTIM, a PE, kills itself half-way. */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    P, G, PUT, GET, PUT_NBI, GET_NBI, CTX_PUT, IPUT, INC, FETCH, SIGNAL, FENCE, QUIET, TEST, MY_PE, DRAWN,
    FLAG = DRAWN, BARRIER, WAIT, LOCK, UNLOCK, SUM, BROADCAST, FCOLLECT, ALLTOALL, KINDS
};
static const char *names[KINDS] = {
    "shmem_long_p", "shmem_long_g", "shmem_putmem", "shmem_getmem", "shmem_putmem_nbi", "shmem_getmem_nbi",
    "shmem_ctx_putmem", "shmem_long_iput", "shmem_long_atomic_inc", "shmem_long_atomic_fetch",
    "shmem_putmem_signal", "shmem_fence", "shmem_quiet", "shmem_long_test", "shmem_my_pe", "shmem_uint64_p",
    "shmem_barrier_all", "shmem_uint64_wait_until", "shmem_set_lock", "shmem_clear_lock", "shmem_long_sum_reduce",
    "shmem_broadcastmem", "shmem_fcollectmem", "shmem_alltoallmem"};
enum { LARGEST = 1 << 15, MOST_THREADS = 8, MOST_PES = 16, CLASSES = 17, REGIONS = 3, MEETINGS = 4, ELEMENTS = 32 };
static const char *regions[REGIONS] = {"one", "two", "three"};

/* Calls and bytes. */
struct sum { unsigned long calls, bytes; };

struct done {
    struct sum kinds[KINDS], sizes[KINDS][CLASSES], cells[MOST_PES], regions[REGIONS];
    unsigned long entries[REGIONS];
    int region;
};

static int me, npes, calls, victim, threads;
static unsigned long seed, took[KINDS], arrived[MEETINGS], left[MEETINGS];
static struct done done[MOST_THREADS];
static char *to;
static long words[64], never, lock, addends[ELEMENTS], sums[ELEMENTS];
static uint64_t signals, flag;

static unsigned long next(unsigned long *state) {
    *state = *state * 6364136223846793005ul + 1442695040888963407ul;
    return *state >> 33;
}

static unsigned long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000ul + time.tv_nsec;
}

static void add(struct sum *sum, size_t bytes) { sum->calls++, sum->bytes += bytes; }

/* To PE; -1: to none. */
static void note(struct done *own, int kind, int pe, size_t bytes) {
    int class = 0;
    while (bytes >> class) class++;
    add(&own->kinds[kind], bytes);
    add(&own->sizes[kind][class], bytes);
    if (pe >= 0) add(&own->cells[pe], bytes);
    if (own->region >= 0) add(&own->regions[own->region], bytes);
}

static void call(int kind, unsigned long *state, int thread, shmem_ctx_t ctx) {
    int pe = next(state) % npes;
    /* Of all sizes alike, on the scale of powers of two. */
    size_t bytes = next(state) % ((size_t)1 << next(state) % 16), moved = 0;
    char *from = to + LARGEST * (1 + thread), *at = to;
    switch (kind) {
    case P: shmem_long_p(&words[thread], 1, pe), moved = 8; break;
    case G: shmem_long_g(&words[thread], pe), moved = 8; break;
    case PUT: shmem_putmem(at, from, moved = bytes, pe); break;
    case GET: shmem_getmem(from, at, moved = bytes, pe); break;
    case PUT_NBI: shmem_putmem_nbi(at, from, moved = bytes, pe); break;
    case GET_NBI: shmem_getmem_nbi(from, at, moved = bytes, pe); break;
    case CTX_PUT: shmem_ctx_putmem(ctx, at, from, moved = bytes, pe); break;
    case IPUT: shmem_long_iput((long *)at, (long *)from, 2, 1, bytes % 64, pe), moved = 8 * (bytes % 64); break;
    case INC: shmem_long_atomic_inc(&words[32], pe), moved = 8; break;
    case FETCH: shmem_long_atomic_fetch(&words[32], pe), moved = 8; break;
    case SIGNAL: shmem_putmem_signal(at, from, moved = bytes, &signals, 1, SHMEM_SIGNAL_ADD, pe); break;
    case FENCE: shmem_fence(); break;
    case QUIET: shmem_quiet(); break;
    case TEST: shmem_long_test(&never, SHMEM_CMP_NE, 0); break;
    case MY_PE: shmem_my_pe(); break;
    }
    note(&done[thread], kind, kind < FENCE ? pe : -1, moved);
}

/* A collective that all draw alike. */
static void together(struct done *own, unsigned long drawn) {
    int elements = 1 + drawn / 4 % ELEMENTS, bytes = elements * sizeof *addends;
    char *from = to + LARGEST * (1 + MOST_THREADS), *at = from + LARGEST;
    switch (SUM + drawn % 4) {
    case SUM: shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, addends, elements); break;
    case BROADCAST: shmem_broadcastmem(SHMEM_TEAM_WORLD, at, from, bytes, 0); break;
    case FCOLLECT: shmem_fcollectmem(SHMEM_TEAM_WORLD, at, from, bytes); break;
    case ALLTOALL: shmem_alltoallmem(SHMEM_TEAM_WORLD, at, from, bytes); break;
    }
    note(own, SUM + drawn % 4, -1, bytes);
}

/* All meet, one of them late; one is waited for; each takes a lock and keeps it for a while. */
static void meet(int number, struct done *own) {
    unsigned long state = seed * 7919 + number, begin;
    int late = next(&state) % npes, releaser = next(&state) % npes;
    if (me == late) usleep(1000 + next(&state) % 2000);
    arrived[number] = now();
    shmem_barrier_all();
    left[number] = now(), took[BARRIER] += left[number] - arrived[number], note(own, BARRIER, -1, 0);
    if (me == releaser) {
        usleep(1000);
        for (int pe = 0; pe < npes; pe++) shmem_uint64_p(&flag, number + 1, pe), note(own, FLAG, pe, 8);
    }
    begin = now(), shmem_uint64_wait_until(&flag, SHMEM_CMP_GE, number + 1), took[WAIT] += now() - begin;
    note(own, WAIT, -1, 0);
    begin = now(), shmem_set_lock(&lock), took[LOCK] += now() - begin, note(own, LOCK, -1, 0);
    usleep(100);
    shmem_clear_lock(&lock), note(own, UNLOCK, -1, 0);
    together(own, seed + number);
}

static void *run(void *number) {
    int thread = (int)(long)number, period = calls / MEETINGS;
    unsigned long state = seed * 1000003 + 97 * me + thread + 1;
    struct done *own = &done[thread];
    shmem_ctx_t ctx;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) abort();
    own->region = -1;
    for (int k = 0; k < calls; k++) {
        if (me == victim && k == calls / 2) raise(SIGKILL);
        int region = next(&state) % 4 ? -1 : (int)(next(&state) % REGIONS);
        if (region >= 0) shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, regions[region]), own->entries[region]++;
        own->region = region;
        for (int more = next(&state) % 6; more >= 0; more--) call(next(&state) % DRAWN, &state, thread, ctx);
        if (thread == 0 && k % period == period - 1 && k / period < MEETINGS) meet(k / period, own);
        if (region >= 0) shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, regions[region]);
        own->region = -1;
    }
    shmem_ctx_destroy(ctx);
    return 0;
}

static struct sum over_threads(size_t offset) {
    struct sum all = {0, 0};
    for (int k = 0; k < threads; k++) {
        struct sum *of = (struct sum *)((char *)&done[k] + offset);
        all.calls += of->calls, all.bytes += of->bytes;
    }
    return all;
}

static void print(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        struct sum all = over_threads(offsetof(struct done, kinds[kind]));
        printf("count %s %lu %lu\n", names[kind], all.calls, all.bytes);
        for (int class = 0; class < CLASSES; class++) {
            all = over_threads(offsetof(struct done, sizes[kind][class]));
            unsigned long least = class ? 1ul << (class - 1) : 0;
            if (all.calls) printf("size %s %lu %lu %lu\n", names[kind], least, all.calls, all.bytes);
        }
        if (took[kind]) printf("time %s %lu\n", names[kind], took[kind]);
    }
    for (int pe = 0; pe < npes; pe++) {
        struct sum all = over_threads(offsetof(struct done, cells[pe]));
        printf("cell %d-%d %lu %lu\n", me, pe, all.calls, all.bytes);
    }
    for (int region = 0; region < REGIONS; region++) {
        struct sum all = over_threads(offsetof(struct done, regions[region]));
        unsigned long entries = 0;
        for (int k = 0; k < threads; k++) entries += done[k].entries[region];
        printf("region %s %lu %lu %lu\n", regions[region], entries, all.calls, all.bytes);
    }
    for (int k = 0; k < MEETINGS; k++) printf("arrive %d %lu\nleave %d %lu\n", k, arrived[k], k, left[k]);
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoul(argv[1], 0, 10) : 1, calls = argc > 2 ? atoi(argv[2]) : 1000;
    threads = argc > 3 ? atoi(argv[3]) : 1, victim = argc > 4 ? atoi(argv[4]) : -1;
    int provided;
    shmem_init_thread(threads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
    done[0].region = -1;
    me = shmem_my_pe(), npes = shmem_n_pes();
    note(&done[0], MY_PE, -1, 0);
    to = shmem_malloc(LARGEST * (2 + MOST_THREADS + MOST_PES));
    pthread_t others[MOST_THREADS];
    for (int k = 1; k < threads; k++) pthread_create(&others[k], 0, run, (void *)(long)k);
    run(0);
    for (int k = 1; k < threads; k++) pthread_join(others[k], 0);
    unsigned long begin = now();
    shmem_barrier_all();
    took[BARRIER] += now() - begin, note(&done[0], BARRIER, -1, 0);
    print();
    shmem_finalize();
    return 0;
}

/* Random calls with known counts: random SEED CALLS THREADS VICTIM. Each PE draws its own; what it has called is printed at the end, a
   line a routine: count ROUTINE CALLS BYTES. VICTIM, a PE, kills itself half-way. */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { P, G, PUT, GET, PUT_NBI, IPUT, INC, FETCH, SIGNAL, FENCE, QUIET, TEST, MY_PE, KINDS };
static const char *names[KINDS] = {
    "shmem_long_p", "shmem_long_g", "shmem_putmem", "shmem_getmem", "shmem_putmem_nbi", "shmem_long_iput",
    "shmem_long_atomic_inc", "shmem_long_atomic_fetch", "shmem_putmem_signal", "shmem_fence", "shmem_quiet",
    "shmem_long_test", "shmem_my_pe"};
enum { LARGEST = 1 << 15, MOST_THREADS = 8 };

static int me, npes, calls, victim, threads;
static unsigned long seed;
static unsigned long counted[MOST_THREADS][KINDS][2];
static char *to;
static long words[64], never;
static uint64_t signals;

static unsigned long next(unsigned long *state) {
    *state = *state * 6364136223846793005ul + 1442695040888963407ul;
    return *state >> 33;
}

static void call(int kind, unsigned long *state, int thread) {
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
    case IPUT: shmem_long_iput((long *)at, (long *)from, 2, 1, bytes % 64, pe), moved = 8 * (bytes % 64); break;
    case INC: shmem_long_atomic_inc(&words[32], pe), moved = 8; break;
    case FETCH: shmem_long_atomic_fetch(&words[32], pe), moved = 8; break;
    case SIGNAL: shmem_putmem_signal(at, from, moved = bytes, &signals, 1, SHMEM_SIGNAL_ADD, pe); break;
    case FENCE: shmem_fence(); break;
    case QUIET: shmem_quiet(); break;
    case TEST: shmem_long_test(&never, SHMEM_CMP_NE, 0); break;
    case MY_PE: shmem_my_pe(); break;
    }
    counted[thread][kind][0]++, counted[thread][kind][1] += moved;
}

static void *run(void *number) {
    static const char *regions[] = {"one", "two", "three"};
    int thread = (int)(long)number;
    unsigned long state = seed * 1000003 + 97 * me + thread + 1;
    for (int k = 0; k < calls; k++) {
        if (me == victim && k == calls / 2) raise(SIGKILL);
        const char *region = next(&state) % 4 ? 0 : regions[next(&state) % 3];
        if (region) shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, region);
        for (int more = next(&state) % 6; more >= 0; more--) call(next(&state) % KINDS, &state, thread);
        if (region) shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, region);
        if (threads == 1 && k % 500 == 499) shmem_barrier_all();
    }
    return 0;
}

int main(int argc, char **argv) {
    seed = argc > 1 ? strtoul(argv[1], 0, 10) : 1, calls = argc > 2 ? atoi(argv[2]) : 1000;
    threads = argc > 3 ? atoi(argv[3]) : 1, victim = argc > 4 ? atoi(argv[4]) : -1;
    int provided;
    shmem_init_thread(threads > 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &provided);
    me = shmem_my_pe(), npes = shmem_n_pes();
    counted[0][MY_PE][0]++;
    to = shmem_malloc(LARGEST * (1 + MOST_THREADS));
    pthread_t others[MOST_THREADS];
    for (int k = 1; k < threads; k++) pthread_create(&others[k], 0, run, (void *)(long)k);
    run(0);
    for (int k = 1; k < threads; k++) pthread_join(others[k], 0);
    for (int kind = 0; kind < KINDS; kind++) {
        unsigned long sum[2] = {0, 0};
        for (int k = 0; k < threads; k++) sum[0] += counted[k][kind][0], sum[1] += counted[k][kind][1];
        printf("count %s %lu %lu\n", names[kind], sum[0], sum[1]);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

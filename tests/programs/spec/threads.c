/* 9.2 and 9.5 with threads: each has a private context in thread-local storage, which falls back to the default one. */
#include <pthread.h>
#include <shmem.h>
#include "must.h"

#define THREADS 4
#define COUNT 1000

static _Thread_local shmem_ctx_t mine = SHMEM_CTX_INVALID;
static long *counters;

static void put(long *dest, long value, int pe) {
    if (mine == SHMEM_CTX_INVALID) shmem_p(dest, value, pe);
    else shmem_p(mine, dest, value, pe);
}

static void *work(void *argument) {
    long thread = (long)argument;
    /* The last one does without. */
    if (thread + 1 < THREADS) MUST(shmem_ctx_create(SHMEM_CTX_PRIVATE, &mine) == 0);
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < COUNT; i++) {
        put(counters + 1 + (me * THREADS + thread), i, (me + 1) % n);
        shmem_atomic_inc(counters, i % n);
    }
    if (mine == SHMEM_CTX_INVALID) shmem_quiet();
    shmem_ctx_quiet(mine);
    shmem_ctx_destroy(mine);
    return NULL;
}

int main(void) {
    int level;
    MUST(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) == 0);
    if (level != SHMEM_THREAD_MULTIPLE) shmem_global_exit(2);
    int me = shmem_my_pe(), n = shmem_n_pes(), left = (me + n - 1) % n;
    counters = shmem_calloc(1 + (size_t)n * THREADS, sizeof *counters);
    MUST(counters != NULL);
    pthread_t threads[THREADS];
    for (long t = 0; t < THREADS; t++) MUST(pthread_create(&threads[t], NULL, work, (void *)t) == 0);
    for (int t = 0; t < THREADS; t++) MUST(pthread_join(threads[t], NULL) == 0);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) MUST(counters[1 + left * THREADS + t] == COUNT - 1);
    long all = 0;
    for (int pe = 0; pe < n; pe++) all += shmem_g(counters, pe);
    MUST(all == (long)n * THREADS * COUNT);
    shmem_free(counters);
    shmem_finalize();
    return 0;
}

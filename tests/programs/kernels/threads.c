/* Many threads of each PE at once, each with a private context that it makes anew again and again: puts that it reads
 * back, atomics with exact totals, a lock of all threads of all PEs, a ring of signals a thread. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 12, ROUNDS = 10, OPERATIONS = 40, LOCKED = 20, TURNS = 50, WORDS = 64 };

static long cells[THREADS][WORDS], sums[THREADS], lock, guarded;
static uint64_t signals[THREADS];
static int me, npes;

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "PE %d: line %d: %s\n", me, __LINE__, #condition); \
        shmem_global_exit(9); \
    } \
} while (0)

static void *work(void *argument) {
    long t = (long)(intptr_t)argument, values[WORDS], read[WORDS];
    int next = (me + 1) % npes;
    for (int round = 0; round < ROUNDS; round++) {
        shmem_ctx_t ctx;
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
        for (long k = 0; k < WORDS; k++) values[k] = t * 1000 + k + round;
        for (int k = 0; k < OPERATIONS; k++) {
            shmem_ctx_long_put_nbi(ctx, cells[t], values, WORDS, next);
            shmem_ctx_quiet(ctx);
            shmem_ctx_long_get(ctx, read, cells[t], WORDS, next);
            for (int j = 0; j < WORDS; j++) CHECK(read[j] == values[j]);
            shmem_ctx_long_atomic_add(ctx, &sums[t], 1, next);
        }
        shmem_ctx_destroy(ctx);
    }
    for (int k = 0; k < LOCKED; k++) {
        shmem_set_lock(&lock);
        long value = shmem_long_g(&guarded, 0);
        shmem_long_p(&guarded, value + 1, 0);
        shmem_clear_lock(&lock);
    }
    for (uint64_t k = 1; k <= TURNS; k++) {
        if (me > 0) shmem_signal_wait_until(&signals[t], SHMEM_CMP_GE, k);
        shmem_long_put_signal(cells[t], values, 8, &signals[t], k, SHMEM_SIGNAL_SET, next);
        if (me == 0) shmem_signal_wait_until(&signals[t], SHMEM_CMP_GE, k);
    }
    return NULL;
}

int main(void) {
    int provided = -1;
    pthread_t threads[THREADS];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    shmem_barrier_all();
    for (long t = 0; t < THREADS; t++) CHECK(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t) == 0);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) CHECK(sums[t] == ROUNDS * OPERATIONS);
    CHECK(shmem_long_g(&guarded, 0) == (long)LOCKED * THREADS * npes);
    shmem_finalize();
    printf("OK\n");
    return 0;
}

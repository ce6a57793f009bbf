/* 9.2, 9.5: THREAD_MULTIPLE: threads put, get, add and signal at once, on the default context and on private ones; a
 * thread that waits does not keep others from going on.
 * pes: 1 2 3 4
 * cflags: -pthread
 * needs: shmem_init_thread shmem_malloc shmem_long_p shmem_long_atomic_add shmem_long_wait_until
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 500 };

static long counter, slots[THREADS], flags[THREADS];
static long *heap;

static void *work(void *argument) {
    long id = (long)(intptr_t)argument;
    int next = (me + 1) % npes;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
#ifdef HAVE_shmem_ctx_create
    if (id % 2) CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
#endif
    for (long k = 1; k <= ROUNDS; k++) {
        shmem_ctx_long_atomic_add(ctx, &counter, 1, 0);
        shmem_ctx_long_p(ctx, &heap[id], k * 8 + id, next);
        shmem_ctx_fence(ctx);
        shmem_ctx_long_atomic_set(ctx, &flags[id], k, next);
        /* Each thread waits for its twin on the neighbour. */
        shmem_long_wait_until(&flags[id], SHMEM_CMP_GE, k);
        CHECK(heap[id] >= k * 8 + id);
        long back;
        shmem_ctx_long_get(ctx, &back, &heap[id], 1, next);
        CHECK_EQ(back % 8, id);
    }
    shmem_ctx_quiet(ctx);
#ifdef HAVE_shmem_ctx_create
    if (id % 2) shmem_ctx_destroy(ctx);
#endif
    return NULL;
}

int main(void) {
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    heap = symmetric(THREADS * sizeof(long));
    /* A get is not ordered after the put before it, so the first one may still find this. */
    for (long id = 0; id < THREADS; id++) heap[id] = id;
    shmem_barrier_all();
    pthread_t threads[THREADS];
    for (long id = 0; id < THREADS; id++) CHECK_EQ(pthread_create(&threads[id], NULL, work, (void *)(intptr_t)id), 0);
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(counter, (long)THREADS * ROUNDS * npes);
    return end();
}

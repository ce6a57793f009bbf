/* Threads that transfer at once, each what is its own, and one that waits for another by a flag in symmetric memory. */
#include <shmem.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 20, BYTES = 1000 };

static long words[8], count, flag;
static char *heap, mine[BYTES];
#ifdef RACES
static long racy;
#endif

static void *work(void *arg) {
    long which = (long)arg, value = which;
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int k = 0; k < ROUNDS; k++) {
        shmem_long_p(&words[which], k, next);
        shmem_long_put(&words[which], &value, 1, next);
        shmem_long_atomic_inc(&count, next);
        shmem_quiet();
#ifdef RACES
        racy++;
#endif
    }
    if (which == 0) {
        shmem_putmem(heap, mine, BYTES, shmem_my_pe());
        shmem_quiet();
        shmem_long_atomic_inc(&flag, shmem_my_pe());
    }
    return NULL;
}

int main(void) {
    int provided;
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    heap = shmem_malloc(BYTES);
    for (long k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, work, (void *)k);
    /* The signal orders what follows behind the other thread's put, which no detector can know. */
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_putmem(mine, heap, BYTES, shmem_my_pe());
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) printf("%ld\n", count * shmem_n_pes());
    shmem_free(heap);
    shmem_finalize();
    return 0;
}

/* 9.2 with the profile: hundreds of threads that come and go, some calling from their thread-local destructors.
 * pes: 1 2
 * cflags: -pthread
 * needs: shmem_init_thread shmem_long_atomic_inc
 */
#include "check.h"

#include <pthread.h>

enum { BATCHES = 30, THREADS = 16 };

static long counter;
static pthread_key_t key;

static void leaving(void *value) {
    (void)value;
    shmem_long_atomic_inc(&counter, 0);
}

static void *work(void *argument) {
    pthread_setspecific(key, argument);
    for (int k = 0; k < 10; k++) shmem_long_atomic_inc(&counter, 0);
    return NULL;
}

int main(void) {
    int provided, value;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK_EQ(pthread_key_create(&key, leaving), 0);
    for (int batch = 0; batch < BATCHES; batch++) {
        pthread_t threads[THREADS];
        for (int k = 0; k < THREADS; k++) CHECK_EQ(pthread_create(&threads[k], NULL, work, &value), 0);
        for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    }
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(counter, 11l * BATCHES * THREADS * npes);
    return end();
}

/* Threads that come and go: each makes 1000 calls; 20 times 8 threads a PE. */
#include <pthread.h>
#include <shmem.h>

static long word;

static void *work(void *argument) {
    (void)argument;
    for (int k = 0; k < 1000; k++) shmem_long_atomic_inc(&word, 0);
    return NULL;
}

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    for (int batch = 0; batch < 20; batch++) {
        pthread_t threads[8];
        for (int k = 0; k < 8; k++) pthread_create(&threads[k], NULL, work, NULL);
        for (int k = 0; k < 8; k++) pthread_join(threads[k], NULL);
    }
    shmem_barrier_all();
    long total = shmem_long_g(&word, 0);
    int right = total == 160000l * shmem_n_pes();
    shmem_finalize();
    return !right;
}

/* Threads of a PE, as many as the argument says, crash together. */
#include <pthread.h>
#include <shmem.h>
#include <stdlib.h>

static int there, threads;
static int *volatile nowhere;

__attribute__((noinline)) static void stores(void) {
    *nowhere = 1; /* crash */
}

static void *crash(void *nothing) {
    __atomic_fetch_add(&there, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&there, __ATOMIC_SEQ_CST) < threads) {}
    stores();
    return nothing;
}

int main(int count, char **arguments) {
    int provided;
    threads = count > 1 ? atoi(arguments[1]) : 2;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmem_barrier_all();
    for (int made = 1; made < threads; made++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, crash, NULL) != 0) return 2;
    }
    crash(NULL);
    return 0;
}

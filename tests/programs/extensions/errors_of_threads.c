/* What a thread keeps of its last error goes with it: many threads that each have one take no memory. */
#include <malloc.h>
#include <pthread.h>
#include <shmemx.h>
#include <stdio.h>

enum { THREADS = 2000 };
static long word;
static int missed;

static void *errs(void *nothing) {
    shmem_long_p(&word, 1, shmem_n_pes());
    if (shmemx_error_last(NULL) != SHMEMX_ERROR_PE) missed++;
    return nothing;
}

static size_t after(int threads) {
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, errs, NULL) != 0) missed++;
        else pthread_join(thread, NULL);
    }
    return mallinfo2().uordblks;
}

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    size_t few = after(20), many = after(THREADS);
    /* An error with its message has more than 100 bytes. */
    if (many > few + THREADS * 16) return printf("%zu bytes a thread\n", (many - few) / THREADS), 1;
    if (missed) return 2;
    shmem_finalize();
    return 0;
}

/* Ends in the way that the first argument says, in PE 0, while three threads of each PE communicate with all others. */
#include <pthread.h>
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1 << 16, THREADS = 3 };

static char block[BYTES];
static uint64_t word;
static int me, npes;

static void *communicate(void *number) {
    static _Thread_local char own[BYTES];
    shmem_ctx_t context;
    if (shmem_ctx_create(0, &context) != 0) return NULL;
    for (unsigned k = (unsigned)(me + *(int *)number);; k++) {
        int pe = (int)(k % (unsigned)npes);
        if (k % 3 == 0) shmem_ctx_putmem_signal_nbi(context, block, own, k % BYTES, &word, 1, SHMEM_SIGNAL_ADD, pe);
        if (k % 3 == 1) shmem_ctx_uint64_atomic_fetch_add(context, &word, 1, pe);
        if (k % 3 == 2) shmem_ctx_getmem_nbi(context, own, block, k % 5000, pe);
        if (k % 4 == 0) shmem_ctx_quiet(context);
    }
    return NULL;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    int provided, numbers[THREADS] = {0, 1, 2};
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_barrier_all();
    for (int k = 0; k < THREADS; k++) pthread_create(&thread, NULL, communicate, &numbers[k]);
    usleep(50000);
    if (me == 0 && strcmp(what, "abort") == 0) abort();
    if (me == 0 && strcmp(what, "exit") == 0) exit(6);
    if (me == 0 && strcmp(what, "global-exit-0") == 0) shmem_global_exit(0);
    for (;;) shmem_uint64_atomic_fetch(&word, 0);
}

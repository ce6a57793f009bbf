/* Main ends its thread only. Argument: "alone", or "worker" for a thread that is left for a while, "waiter" for one in
 * a call that others end; "end", and shmem_finalize comes before. */
#include <pthread.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t word;
static int me, npes;

static void told(void) { fputs("told\n", stdout); }

static void *work(void *unused) {
    (void)unused;
    usleep(400000);
    puts("worked");
    return NULL;
}

static void *await(void *unused) {
    (void)unused;
    if (me == 0) {
        usleep(400000);
        for (int pe = 0; pe < npes; pe++) shmem_uint64_p(&word, 1, pe);
        shmem_quiet();
    }
    shmem_uint64_wait_until(&word, SHMEM_CMP_EQ, 1);
    puts("worked");
    return NULL;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    int provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe(), npes = shmem_n_pes();
    atexit(told);
    shmem_barrier_all();
    if (strcmp(what, "worker") == 0) pthread_create(&thread, NULL, work, NULL);
    if (strcmp(what, "waiter") == 0) pthread_create(&thread, NULL, await, NULL);
    if (strcmp(what, "end") == 0) shmem_finalize();
    pthread_exit(NULL);
}

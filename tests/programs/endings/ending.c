/* Ends in the way that the first argument says, in one PE (the second argument) while the others do something else. */
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word, lock;

static void crash(int number) {
    *(volatile int *)8 = number;
}

static void *exiter(void *status) {
    usleep(50000);
    shmem_global_exit(*(int *)status);
    return NULL;
}

/* What the others are in when the end comes. */
static void occupied(const char *how) {
    if (strcmp(how, "compute") == 0) for (volatile long k = 0;; k++) {}
    if (strcmp(how, "barrier") == 0) shmem_barrier_all();
    if (strcmp(how, "wait") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 12345);
    if (strcmp(how, "sleep") == 0) for (;;) pause();
    if (strcmp(how, "lock") == 0) for (;;) shmem_set_lock(&lock);
    if (strcmp(how, "malloc") == 0) shmem_malloc(1000);
    if (strcmp(how, "finalize") == 0) { shmem_finalize(); }
    if (strcmp(how, "traffic") == 0) for (;;) shmem_long_atomic_inc(&word, 0);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "", *others = count > 3 ? arguments[3] : "barrier";
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int one = (count > 2 ? atoi(arguments[2]) : 0) % npes;
    for (int k = 0; k <= me; k++) shmem_long_p(&word, 0, (me + 1) % npes);
    shmem_barrier_all();
    if (me != one) {
        occupied(others);
        return 0;
    }
    usleep(50000);
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("global-exit") { printf("flushed by exit"); shmem_global_exit(9); }
    CASE("global-exit-0") { printf("flushed by exit"); shmem_global_exit(0); }
    CASE("thread") {
        int status = 5;
        pthread_t thread;
        pthread_create(&thread, NULL, exiter, &status);
        pthread_join(thread, NULL);
    }
    CASE("return") return 4;
    CASE("return-0") return 0;
    CASE("exit") exit(6);
    CASE("_exit") _exit(8);
    CASE("_exit-0") _exit(0);
    CASE("exec") execlp("true", "true", NULL);
    CASE("segv") *(volatile int *)8 = 1;
    CASE("segv-wait") {
        signal(SIGALRM, crash);
        ualarm(50000, 0);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 777); /* called from here */
    }
    CASE("abort") abort();
    CASE("kill") kill(getpid(), SIGKILL);
    return 0;
}

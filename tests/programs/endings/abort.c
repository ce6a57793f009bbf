/* Ends the job by shmemx_abort from a PE in some state, with the others in another one: CASE PE STATE-OF-THE-OTHERS. */
#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;
static const char *what = "plain";

static void at_end(void) { puts("an exit handler ran"); }

static void abort_now(void) {
    if (strcmp(what, "plain") == 0) shmemx_abort(); /* plain call */
    if (strcmp(what, "because") == 0) shmemx_abort_because(7, "the mesh is broken"); /* call with a reason */
    if (strcmp(what, "zero") == 0) shmemx_abort_because(0, "nothing\nat all");
    if (strcmp(what, "large") == 0) shmemx_abort_because(256 + 5, NULL);
    shmemx_abort();
}

static void *in_thread(void *nothing) {
    abort_now();
    return nothing;
}

static void in_handler(int signal) { abort_now(); }

static void wait_for_end(const char *state) {
    if (strcmp(state, "barrier") == 0) shmem_barrier_all();
    else if (strcmp(state, "wait") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    else if (strcmp(state, "finalize") == 0) shmem_finalize();
    else if (strcmp(state, "sleep") == 0) sleep(60);
    else for (;;) word = word * 3 + 1;
    sleep(60);
}

int main(int count, char **arguments) {
    what = count > 1 ? arguments[1] : what;
    int pe = count > 2 ? atoi(arguments[2]) : 0;
    const char *others = count > 3 ? arguments[3] : "barrier", *how = count > 4 ? arguments[4] : "";
    atexit(at_end);
    if (strcmp(how, "before-init") == 0) abort_now();
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    fputs("written before\n", stdout);
    if (shmem_my_pe() != pe) wait_for_end(others);
    usleep(100000);
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, in_thread, NULL);
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    }
    if (strcmp(how, "handler") == 0) {
        signal(SIGALRM, in_handler);
        alarm(1);
        shmem_barrier_all();
    }
    if (strcmp(how, "after-finalize") == 0) shmem_finalize();
    abort_now();
    return 0;
}

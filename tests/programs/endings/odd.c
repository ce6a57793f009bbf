/* PE 1 calls global_exit where one would not expect it: before shmem_init, after the last finalize, in an exit handler,
 * in a signal handler, in a child, with a status that does not fit; while others have not begun, are stopped or have
 * finalized. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static long word;
static void leave(void) { shmem_global_exit(7); }
static void on_signal(int number) { (void)number; shmem_global_exit(7); }

static void alarm_soon(void) {
    struct itimerval soon = {{0, 0}, {0, 50000}};
    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &soon, NULL);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "", *rank = getenv("PMI_RANK");
    int one = rank != NULL && atoi(rank) == 1;
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("before-init") {
        usleep(50000);
        if (one) shmem_global_exit(7);
        shmem_init();
        shmem_barrier_all();
    }
    CASE("others-before-init") {
        if (!one) for (;;) pause();
        shmem_global_exit(7);
    }
    CASE("init-late") {
        if (!one) usleep(100000);
        if (one) shmem_global_exit(7);
        shmem_init();
        shmem_barrier_all();
        return 3;
    }
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_long_p(&word, me, (me + 1) % npes);
    shmem_barrier_all();
    CASE("after-finalize") {
        shmem_finalize();
        if (me == 1) shmem_global_exit(7);
        for (;;) pause();
    }
    CASE("exit-handler") {
        if (me == 1) {
            atexit(leave);
            return 0;
        }
        shmem_barrier_all();
    }
    CASE("signal-handler") {
        if (me == 1) alarm_soon();
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 4711);
    }
    CASE("signal-in-barrier") {
        if (me != 1) for (;;) pause();
        alarm_soon();
        shmem_barrier_all();
    }
    CASE("big") {
        if (me == 1) shmem_global_exit(256 + 7);
        shmem_barrier_all();
    }
    CASE("negative") {
        if (me == 1) shmem_global_exit(-249);
        shmem_barrier_all();
    }
    CASE("stopped") {
        if (me == 0) raise(SIGSTOP);
        usleep(100000);
        if (me == 1) shmem_global_exit(7);
        shmem_barrier_all();
    }
    CASE("child") {
        if (me == 1 && fork() == 0) shmem_global_exit(7);
        for (;;) pause();
    }
    CASE("nested") {
        shmem_init();
        shmem_finalize();
        if (me == 1) shmem_global_exit(7);
        shmem_barrier_all();
    }
    return 0;
}

/* A signal handler comes to an error while its thread sets what becomes of errors. */
#include <shmemx.h>
#include <signal.h>
#include <sys/time.h>

static long word;
static volatile int handled, npes;

static void on_signal(int number) {
    (void)number;
    shmem_long_p(&word, 1, npes);
    handled++;
}

int main(void) {
    struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    shmem_init();
    npes = shmem_n_pes();
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    on_signal(0);
    signal(SIGALRM, on_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < 1000) shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    shmem_finalize();
    return 0;
}

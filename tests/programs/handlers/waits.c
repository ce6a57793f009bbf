/* A job that hangs while a timer's handler calls the library a few times: waits WAY CALL. */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static long beat, flag, lock, sum[2];
static int next, left = 3;
static const char *call;

static void handler(int number)
{
    (void)number;
    if (left-- <= 0)
        return;
    if (strcmp(call, "query") == 0)
        (void)shmem_my_pe();
    else if (strcmp(call, "level") == 0)
        shmem_pcontrol(2);
    else
        shmem_long_p(&beat, left, next);
}

int main(int argc, char **argv)
{
    shmem_init();
    if (argc < 3)
        shmem_global_exit(2);
    const char *way = argv[1];
    call = argv[2];
    int me = shmem_my_pe();
    next = (me + 1) % shmem_n_pes();
    if (me == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 50000}, {0, 50000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    if (me == 0)
        shmem_barrier_all();
    else if (strcmp(way, "lock") == 0)
        shmem_set_lock(&lock);
    else if (strcmp(way, "reduce") == 0)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum[0], &sum[1], 1);
    else
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_finalize();
    return 0;
}

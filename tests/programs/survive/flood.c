/* A PE is killed at any moment of a flood of nonblocking collectives, whose messages it is in the middle of sending.
 * The others go on with a team of their own. Arguments: the victim, and after how many microseconds. */
#include <sys/time.h>

#include "survive.h"

enum { MOST = 16, ROUNDS = 100 };

static long to[MOST], from[MOST];
static int through;

static void end_now(int number) {
    (void)number;
    die("kill");
}

/* Some sums at once; the error of the first that has one. */
static int some(shmem_team_t team, long expected) {
    shmemx_req_h requests[MOST];
    int error = 0;
    for (int i = 0; i < MOST; i++) {
        from[i] = me + i;
        int started = shmemx_long_sum_reduce_nb(team, to + i, from + i, 1, requests + i);
        if (error == 0) error = started;
    }
    for (int i = 0; i < MOST; i++) {
        int waited = shmemx_req_wait(requests + i);
        if (error == 0) error = waited;
    }
    int size = shmem_team_n_pes(team);
    for (int i = 0; i < MOST && error == 0; i++) CHECK_EQ(to[i], expected + size * i);
    return error;
}

int main(int argc, char **argv) {
    begin();
    CHECK_EQ(argc, 3);
    int victim = atoi(argv[1]), after = atoi(argv[2]);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    WELL(shmem_barrier_all());
    /* Whoever is in the barrier yet would leave it with an error. */
    WELL(shmem_int_atomic_inc(&through, victim));
    if (me == victim) {
        WELL(shmem_int_wait_until(&through, SHMEM_CMP_EQ, npes));
        struct itimerval timer = {{0, 0}, {0, after}};
        signal(SIGALRM, end_now);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    long all = npes * (npes - 1L) / 2;
    int error;
    do error = some(SHMEM_TEAM_WORLD, all);
    while (error == 0);
    CHECK_EQ(error, SHMEMX_ERROR_PE_LOST);
    shmemx_error_clear();
    shmem_team_t left;
    CHECK_EQ(shmemx_team_shrink(SHMEM_TEAM_WORLD, &left), 0);
    CHECK_EQ(shmem_team_n_pes(left), npes - 1);
    for (int i = 0; i < ROUNDS; i++) CHECK_EQ(some(left, all - victim), 0);
    shmem_finalize();
    printf("PE %d is through\n", me);
    return 0;
}

/* One PE is killed at some moment while the others have all kinds of transfers to it under way, in large pieces, too:
 * each call and each request ends, and what is left goes on. Argument: after how many microseconds. */
#include <sys/time.h>

#include "survive.h"

enum { WORDS = 1 << 17, MOST = 8 };

static long here[WORDS];
static long *there;
static uint64_t *signals;

static void end_now(int number) {
    (void)number;
    die("kill");
}

/* Transfers to and from a PE; the code of the first that fails, or 0. */
static int some(int pe, int round) {
    static long fetched[MOST];
    shmemx_request_handle_t requests[4];
    size_t words = round % 3 == 0 ? WORDS : round % 3 == 1 ? 700 : 3;
    shmem_long_put_nbi(there, here, words, pe);
    shmem_long_get_nbi(here, there, words, pe);
    for (int i = 0; i < MOST; i++) shmem_long_atomic_fetch_add_nbi(fetched + i, there, 1, pe);
    shmem_long_put_signal_nbi(there, here, words, signals, 1, SHMEM_SIGNAL_ADD, pe);
    shmemx_long_put_nb(there, here, words, pe, requests);
    shmemx_long_get_nb(here, there, words, pe, requests + 1);
    shmemx_long_fadd_nb(there, 1, pe, fetched, requests + 2);
    shmemx_long_inc_nb(there, pe, requests + 3);
    int error = last_error();
    if (error == 0) {
        for (int i = 0; i < 4; i++) shmemx_wait_req(requests[i]);
        shmem_long_put(there, here, words, pe);
        shmem_long_p(there, 1, pe);
        (void)shmem_long_atomic_swap(there, 1, pe);
        shmem_long_get(here, there, words, pe);
        shmem_fence();
        shmem_quiet();
        error = last_error();
    }
    return error;
}

int main(int argc, char **argv) {
    begin();
    CHECK_EQ(argc, 2);
    int victim = 1, after = atoi(argv[1]), error = 0;
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    there = symmetric(WORDS * sizeof *there);
    signals = symmetric(sizeof *signals);
    shmem_barrier_all();
    if (me == victim) {
        struct itimerval timer = {{0, 0}, {0, after}};
        signal(SIGALRM, end_now);
        setitimer(ITIMER_REAL, &timer, NULL);
        for (;;) some(0, 0);
    }
    for (int round = 0; error == 0; round++) error = some(victim, round);
    CHECK_EQ(error, SHMEMX_ERROR_PE_LOST);
    LOST(shmem_long_p(there, 1, victim));
    shmem_team_t left;
    CHECK_EQ(shmemx_team_shrink(SHMEM_TEAM_WORLD, &left), 0);
    CHECK_EQ(shmem_team_n_pes(left), npes - 1);
    WELL(shmem_quiet());
    WELL(shmem_team_sync(left));
    for (int round = 0; round < 6; round++) {
        for (int pe = 0; pe < npes; pe++) {
            if (pe != victim) CHECK_EQ(some(pe, round), 0);
        }
        WELL(shmem_team_sync(left));
    }
    shmem_finalize();
    printf("PE %d is through\n", me);
    return 0;
}

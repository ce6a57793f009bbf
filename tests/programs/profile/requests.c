/* What the profile says of requests: PE 1 begins its collectives late, and PE 0 waits for it; an error is returned. */
#include <shmemx.h>
#include <time.h>

enum { ROUNDS = 20 };

static long from, to;

static void sleep_ms(long ms) {
    struct timespec time = {.tv_nsec = ms * 1000000};
    nanosleep(&time, NULL);
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        shmemx_req_h request;
        shmem_barrier_all();
        if (me == 1) sleep_ms(5);
        shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, &to, &from, 1, &request);
        shmemx_req_wait(&request);
    }
    for (int i = 0; i < 3; i++) shmem_long_p(&to, 1, npes);
    shmem_finalize();
    return 0;
}

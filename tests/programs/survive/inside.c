/* One PE is killed while all others are inside of a call, which the first argument names. */
#include "survive.h"

enum { LARGE = 1 << 16, ROUNDS = 1000 };

static long to[4 * LARGE], from[LARGE];
static long psync[SHMEM_BARRIER_SYNC_SIZE];
static long flags[4];
static uint64_t arrived;
static long lock;

static void call(const char *what) {
    shmemx_req_h request = SHMEMX_REQ_INVALID;
#define IS(name) (strcmp(what, name) == 0)
    if (IS("barrier")) shmem_barrier_all();
    else if (IS("sync")) shmem_team_sync(SHMEM_TEAM_WORLD);
    else if (IS("broadcast")) shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, LARGE, 1);
    else if (IS("reduce")) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, LARGE);
    else if (IS("fcollect")) shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, 1);
    else if (IS("alltoall")) shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, LARGE / 4);
    else if (IS("malloc")) CHECK(shmem_malloc(8) == NULL);
    else if (IS("set")) shmem_barrier(0, 0, npes - (npes > 3), psync);
    else if (IS("split")) {
        shmem_team_t team;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team);
    } else if (IS("handle")) {
        CHECK_EQ(shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, to, from, LARGE, &request), 0);
        CHECK_EQ(shmemx_req_wait(&request), SHMEMX_ERROR_PE_LOST);
        CHECK(request == SHMEMX_REQ_INVALID);
    } else if (IS("wait")) shmem_long_wait_until(flags, SHMEM_CMP_NE, 0);
    else if (IS("wait_all")) shmem_long_wait_until_all(flags, 4, NULL, SHMEM_CMP_NE, 0);
    else if (IS("wait_any")) CHECK(shmem_long_wait_until_any(flags, 4, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX);
    else if (IS("signal")) CHECK(shmem_signal_wait_until(&arrived, SHMEM_CMP_NE, 0) == 0);
    else CHECKF(0, "%s", what);
}

/* The lock that a lost PE has held goes to whoever wants it, one after the other. */
static void locked(void) {
    static long count, done;
    int list[1];
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2 == 0) WELL(shmem_set_lock(&lock));
        else while (shmem_test_lock(&lock) != 0) continue;
        shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
        WELL(shmem_clear_lock(&lock));
    }
    LOST(shmem_long_wait_until(&done, SHMEM_CMP_LT, 0));
    CHECK_EQ(shmemx_failed_pes(list, 1), 1);
    shmem_long_atomic_inc(&done, 0);
    if (me == 0) {
        WELL(shmem_long_wait_until(&done, SHMEM_CMP_EQ, npes - 1));
        CHECK_EQ(count, ROUNDS * (npes - 1));
    }
}

int main(int argc, char **argv) {
    begin();
    int victim = 1;
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    if (me == victim) shmem_set_lock(&lock);
    shmem_barrier_all();
    leave_before(victim, npes - 1);
    if (me == victim) {
        usleep(200000);
        die("kill");
    }
    if (strcmp(argv[1], "lock") == 0) {
        locked();
    } else if (me != 3 || strcmp(argv[1], "set") != 0) {
        call(argv[1]);
        CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
        /* Once more at once, unless the program takes note of the loss. */
        if (strncmp(argv[1], "wait", 4) == 0) {
            LOST(call(argv[1]));
            int list[1];
            CHECK_EQ(shmemx_failed_pes(list, 1), 1);
            WELL(shmem_long_p(flags, 1, me));
            WELL(shmem_long_wait_until(flags, SHMEM_CMP_NE, 0));
        }
    }
    await_loss(victim);
    shmem_finalize();
    printf("PE %d is through\n", me);
    return 0;
}

/* 9.1.4, 9.2: a finalize that is not the last is a barrier: other threads of a PE that is in it go on with collectives
 * on teams of their own, and begin new ones, while other PEs wait for them there and are not in the finalize yet.
 * pes: 2 3 4
 * cflags: -pthread
 * needs: shmem_init_thread shmem_team_split_strided shmem_team_sync shmem_long_wait_until shmem_long_sum_reduce
 */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

static shmem_team_t team;
static long go, one = 1, sum;

static void *meet(void *argument) {
    /* The others wait for this PE, whose main thread is in the finalize. */
    if (me == 1) shmem_long_wait_until(&go, SHMEM_CMP_EQ, 1);
    CHECK_EQ(shmem_team_sync(team), 0);
    CHECK_EQ(shmem_long_sum_reduce(team, &sum, &one, 1), 0);
    CHECK_EQ(sum, npes);
    return argument;
}

int main(void) {
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    /* As a library does that initializes once more. */
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, meet, NULL), 0);
    if (me != 1) {
        /* Long enough for its other thread to ask what has become of PE 1. */
        usleep(400000);
        if (me == 0) shmem_long_p(&go, 1, 1);
    }
    shmem_finalize();
    CHECK_EQ(pthread_join(thread, NULL), 0);
    shmem_team_destroy(team);
    return end();
}

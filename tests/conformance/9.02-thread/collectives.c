/* 9.2, 9.4: threads of a PE run collectives on teams of their own at the same time, while another one waits.
 * pes: 1 2 3 4
 * cflags: -pthread
 * needs: shmem_team_split_strided shmem_long_sum_reduce shmem_long_broadcast shmem_team_sync shmem_init_thread
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 300 };

static shmem_team_t team_of[THREADS];
static long source[THREADS][4], dest[THREADS][4];
static long flag;

static void *work(void *argument) {
    int id = (int)(intptr_t)argument;
    for (long round = 1; round <= ROUNDS; round++) {
        source[id][0] = me + round;
        CHECK_EQ(shmem_long_sum_reduce(team_of[id], dest[id], source[id], 1), 0);
        CHECK_EQ(dest[id][0], round * npes + (long)npes * (npes - 1) / 2);
        source[id][1] = round * 7 + me;
        CHECK_EQ(shmem_long_broadcast(team_of[id], &dest[id][1], &source[id][1], 1, (int)round % npes), 0);
        CHECK_EQ(dest[id][1], round * 7 + round % npes);
        CHECK_EQ(shmem_team_sync(team_of[id]), 0);
    }
    return NULL;
}

static void *wait_for_end(void *argument) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    return NULL;
}

int main(void) {
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int id = 0; id < THREADS; id++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team_of[id]), 0);
    pthread_t threads[THREADS], waiter;
    CHECK_EQ(pthread_create(&waiter, NULL, wait_for_end, NULL), 0);
    for (int id = 0; id < THREADS; id++) CHECK_EQ(pthread_create(&threads[id], NULL, work, (void *)(intptr_t)id), 0);
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    shmem_barrier_all();
    shmem_long_p(&flag, 1, (me + 1) % npes);
    pthread_join(waiter, NULL);
    for (int id = 0; id < THREADS; id++) shmem_team_destroy(team_of[id]);
    return end();
}

/* 9.6 to 9.11: nothing to move needs no address: null pointers with a count of zero are accepted everywhere, and empty
 * collectives return.
 * pes: 1 2 3 4 7
 * needs: shmem_long_broadcast shmem_long_collect shmem_long_fcollect shmem_long_alltoall shmem_long_alltoalls
 * needs: shmem_long_sum_reduce
 */
#include "check.h"

static long work[SHMEM_SYNC_SIZE];
static int scratch[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

int main(void) {
    begin();
    int next = (me + 1) % npes;
    for (int k = 0; k < SHMEM_SYNC_SIZE; k++) work[k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_long_put(NULL, NULL, 0, next);
    shmem_long_get(NULL, NULL, 0, next);
    shmem_putmem_nbi(NULL, NULL, 0, next);
    shmem_getmem_nbi(NULL, NULL, 0, next);
    shmem_put64(NULL, NULL, 0, next);
    shmem_long_iput(NULL, NULL, 1, 1, 0, next);
    shmem_long_iget(NULL, NULL, 1, 1, 0, next);
#ifdef HAVE_shmem_long_ibput
    shmem_long_ibput(NULL, NULL, 1, 1, 1, 0, next);
    shmem_long_ibget(NULL, NULL, 2, 2, 0, 5, next);
#endif
    shmem_quiet();
#ifdef HAVE_shmem_pe_quiet
    shmem_pe_quiet(NULL, 0);
#endif
    shmem_team_t world = SHMEM_TEAM_WORLD;
    for (int round = 0; round < 20; round++) {
        CHECK_EQ(shmem_long_broadcast(world, NULL, NULL, 0, round % npes), 0);
        CHECK_EQ(shmem_broadcastmem(world, NULL, NULL, 0, round % npes), 0);
        CHECK_EQ(shmem_long_collect(world, NULL, NULL, 0), 0);
        CHECK_EQ(shmem_long_fcollect(world, NULL, NULL, 0), 0);
        CHECK_EQ(shmem_long_alltoall(world, NULL, NULL, 0), 0);
        CHECK_EQ(shmem_long_alltoalls(world, NULL, NULL, 1, 1, 0), 0);
        CHECK_EQ(shmem_long_sum_reduce(world, NULL, NULL, 0), 0);
#ifdef HAVE_shmem_long_sum_inscan
        CHECK_EQ(shmem_long_sum_inscan(world, NULL, NULL, 0), 0);
        CHECK_EQ(shmem_long_sum_exscan(world, NULL, NULL, 0), 0);
#endif
    }
#ifdef HAVE_shmem_broadcast32
    shmem_broadcast32(NULL, NULL, 0, 0, 0, 0, npes, work);
    shmem_barrier_all();
    shmem_collect32(NULL, NULL, 0, 0, 0, npes, work);
    shmem_barrier_all();
    shmem_fcollect64(NULL, NULL, 0, 0, 0, npes, work);
    shmem_barrier_all();
    shmem_alltoall32(NULL, NULL, 0, 0, 0, npes, work);
    shmem_barrier_all();
    shmem_alltoalls64(NULL, NULL, 1, 1, 0, 0, 0, npes, work);
    shmem_barrier_all();
    shmem_int_sum_to_all(NULL, NULL, 0, 0, 0, npes, scratch, work);
    shmem_barrier_all();
    for (int k = 0; k < SHMEM_SYNC_SIZE; k++) CHECK_EQ(work[k], SHMEM_SYNC_VALUE);
#endif
    return end();
}

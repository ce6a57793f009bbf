/* A collective of each kind, on the world, a team (PEs 0 and 2) and an active set (PEs 1 to 3); 4 PEs. */
#include <shmem.h>

static long from[64], to[64];
static long sync[SHMEM_BCAST_SYNC_SIZE];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_team_t even;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &even);
    shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, 4, 3);
    shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, 2);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 3);
    if (even != SHMEM_TEAM_INVALID) {
        shmem_team_sync(even);
        shmem_long_broadcast(even, to, from, 5, 1);
        shmem_long_collect(even, to, from, me + 1);
        shmem_long_alltoall(even, to, from, 1);
        shmem_long_sum_inscan(even, to, from, 1);
    }
    shmem_sync_all();
    if (me > 0)
        shmem_broadcast64(to, from, 6, 2, 1, 0, 3, sync);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

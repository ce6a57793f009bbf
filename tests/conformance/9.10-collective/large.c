/* 9.10: collectives of many sizes up to 1 MiB a PE, across the places where algorithms change, back to back with no
 * synchronization between calls on separate buffers.
 * pes: 1 2 3 4 7
 * environment: SHMEM_SYMMETRIC_SIZE=128m
 * limit: 100
 * needs: shmem_malloc shmem_long_broadcast shmem_long_sum_reduce
 */
#include "teams.h"

enum { N = 1 << 17 };

int main(void) {
    begin();
    open_teams();
    size_t total = (size_t)N + 64 * (size_t)npes;
    long *a = symmetric(total * sizeof(long)), *b = symmetric(total * sizeof(long)),
        *c = symmetric(total * sizeof(long));
    FOR_EACH_TEAM(team) {
        size_t size = (size_t)team->size;
        for (size_t n = 1; n <= N; n = n * 5 + 3) {
            int root = (int)(n % size);
            for (size_t k = 0; k < n; k++) a[k] = (long)(k * 3 + (size_t)me);
            sync_team(team);
            CHECK_EQ(shmem_long_broadcast(team->handle, b, a, n, root), 0);
            CHECK_EQ(shmem_long_sum_reduce(team->handle, c, a, n), 0);
            long sum = 0;
            for (int pe = 0; pe < team->size; pe++) sum += team->world[pe];
            for (size_t k = 0; k < n; k++) {
                CHECKF(b[k] == (long)(k * 3) + team->world[root], "broadcast of %zu: element %zu", n, k);
                CHECKF(c[k] == (long)(k * 3 * size) + sum, "sum of %zu: element %zu", n, k);
            }
            sync_team(team);
            size_t each = n / size + 1;
#ifdef HAVE_shmem_long_fcollect
            CHECK_EQ(shmem_long_fcollect(team->handle, b, a, each), 0);
            for (size_t k = 0; k < each * size; k++)
                if (k % each < n) CHECKF(b[k] == (long)(k % each * 3) + team->world[k / each],
                                         "fcollect of %zu: element %zu", each, k);
            sync_team(team);
#endif
#ifdef HAVE_shmem_long_alltoall
            for (size_t k = 0; k < each * size; k++) a[k] = (long)(k % each * 7 + k / each * 1000) + me * 100000000l;
            sync_team(team);
            CHECK_EQ(shmem_long_alltoall(team->handle, c, a, each), 0);
            for (size_t k = 0; k < each * size; k++)
                CHECKF(c[k] == (long)(k % each * 7) + team->number * 1000 + team->world[k / each] * 100000000l,
                       "alltoall of %zu: element %zu", each, k);
            sync_team(team);
#endif
        }
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

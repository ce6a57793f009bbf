/* 3, 9.6, 9.10: a constant is a global or static variable, and so symmetric: a source of collectives and of gets from
 * all PEs.
 * pes: 1 2 3 4
 * needs: shmem_long_put shmem_long_get shmem_long_g shmem_long_iget shmem_long_get_nbi shmem_long_sum_reduce
 */
#include "check.h"

/* Small and large for collectives. */
enum { N = 20000 };
static const long few[4] = {11, 12, 13, 14};
const long many[N] = {1, 2, [N - 1] = 3};
static long dest[4 * N];

static void collectives(const long *source, size_t n) {
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, n), 0);
    for (size_t k = 0; k < n; k++) CHECK_EQ(dest[k], source[k] * npes);
    CHECK_EQ(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, n, npes - 1), 0);
    for (size_t k = 0; k < n; k++) CHECK_EQ(dest[k], source[k]);
    shmem_sync_all();
    CHECK_EQ(shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, n), 0);
    for (size_t k = 0; k < n * (size_t)npes; k++) CHECK_EQ(dest[k], source[k % n]);
    shmem_sync_all();
    CHECK_EQ(shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, me % 2 == 0 ? n : 0), 0);
    for (size_t k = 0; k < n * (size_t)((npes + 1) / 2); k++) CHECK_EQ(dest[k], source[k % n]);
    shmem_sync_all();
    size_t block = n / (size_t)npes;
    CHECK_EQ(shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, block), 0);
    for (size_t k = 0; k < block * (size_t)npes; k++) CHECK_EQ(dest[k], source[(size_t)me * block + k % block]);
    shmem_sync_all();
    CHECK_EQ(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, n), 0);
    for (size_t k = 0; k < n; k++) CHECK_EQ(dest[k], source[k] * (me + 1));
    shmem_sync_all();
}

int main(void) {
    begin();
    collectives(few, 4);
    collectives(many, N);
    int next = (me + 1) % npes;
    shmem_long_get(dest, many, N, next);
    for (int k = 0; k < N; k++) CHECK_EQ(dest[k], many[k]);
    CHECK_EQ(shmem_long_g(&few[2], next), 13);
    shmem_long_get_nbi(&dest[4], few, 4, next);
    shmem_quiet();
    for (int k = 0; k < 4; k++) CHECK_EQ(dest[4 + k], few[k]);
    shmem_long_iget(&dest[20], few, 3, 2, 2, next);
    CHECK_EQ(dest[20], 11);
    CHECK_EQ(dest[23], 13);
    shmem_barrier_all();
    shmem_long_put(dest, few, 4, next);
    shmem_barrier_all();
    for (int k = 0; k < 4; k++) CHECK_EQ(dest[k], few[k]);
    return end();
}

/* PEs that do not do the same: each case is a mistake between PEs, explained where checks are on. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static long source[8], dest[64];

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), odd = me == npes - 1;
    shmem_barrier_all();
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("routine") {
        if (odd) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
        else shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 1, 0);
    }
    CASE("size") shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, odd ? 2 : 1);
    CASE("root") shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 1, odd ? 1 : 0);
    CASE("operation") {
        if (odd) shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
        else shmem_long_min_reduce(SHMEM_TEAM_WORLD, dest, source, 1);
    }
    CASE("malloc") return shmem_malloc(odd ? 128 : 64) == NULL;
    CASE("malloc-barrier") {
        if (odd) shmem_barrier_all();
        else return shmem_malloc(64) == NULL;
    }
    shmem_finalize();
    return 0;
}

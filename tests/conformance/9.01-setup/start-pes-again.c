/* 9.1.13, 9.1.4: start_pes after the last finalize initializes again, with an empty heap; while the library is
 * initialized it does nothing.
 * pes: 1 2 3
 * needs: start_pes shmem_finalize shmem_malloc shmem_query_initialized
 */
#include "check.h"

int main(void) {
    const size_t most = (size_t)640 << 20;
    for (int round = 0; round < 3; round++) {
        int initialized = 0;
        start_pes(0);
        start_pes(7);
        me = shmem_my_pe();
        npes = shmem_n_pes();
        shmem_query_initialized(&initialized);
        CHECK(initialized);
        /* More than half of the heap (1 GiB): nothing of the round before is left in it. */
        long *mine = shmem_malloc(most);
        CHECKF(mine != NULL, "round %d: no room for %zu bytes", round, most);
        mine[0] = -1;
        shmem_barrier_all();
        shmem_long_p(mine, me, (me + 1) % npes);
        shmem_barrier_all();
        CHECK_EQ(mine[0], (me + npes - 1) % npes);
        shmem_finalize();
        shmem_query_initialized(&initialized);
        CHECK(!initialized);
    }
    return 0;
}

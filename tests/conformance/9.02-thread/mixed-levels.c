/* 9.2, 9.10, deprecated: PEs that have different levels take part in the same collectives, on active sets of all PEs,
 * too; wherever the levels come from: the first initialization, one more, or one after the last finalize.
 * pes: 1 2 3 4
 * needs: shmem_init_thread shmem_query_thread shmem_barrier shmem_long_sum_to_all
 */
#include "check.h"

static long barrier_work[SHMEM_BARRIER_SYNC_SIZE], work[2][SHMEM_REDUCE_SYNC_SIZE];
static long scratch[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE], one[1] = {1}, sum[1];

static void meet(void) {
    for (int round = 0; round < 6; round++) {
        shmem_barrier(0, 0, npes, barrier_work);
        shmem_long_sum_to_all(sum, one, 1, 0, 0, npes, scratch[round % 2], work[round % 2]);
        CHECK_EQ(sum[0], npes);
        shmem_barrier_all();
        sum[0] = 0;
    }
}

static void start(int level) {
    int provided = -1, queried = -2;
    CHECK_EQ(shmem_init_thread(level, &provided), 0);
    shmem_query_thread(&queried);
    CHECK(provided >= level);
    CHECK_EQ(queried, provided);
}

int main(void) {
    /* Before it is initialized, a PE may not know its number: any choice has to do. */
    const char *rank = getenv("PMI_RANK");
    start(rank != NULL && atoi(rank) == 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    meet();
    shmem_finalize();
    /* All alike, then one of them more, and that one alone. */
    start(SHMEM_THREAD_FUNNELED);
    meet();
    start(me == 0 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE);
    meet();
    shmem_finalize();
    meet();
    shmem_finalize();
    start(me == npes - 1 ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SERIALIZED);
    meet();
    return end();
}

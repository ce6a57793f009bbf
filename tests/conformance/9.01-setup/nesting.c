/* 9.1.1, 9.1.4, 9.1.5: init and finalize nest by count, a finalize that is not the last is a barrier, initialization
 * after the last finalize is legal, query_initialized and query_thread may be called at any time.
 * pes: 1 2 3 4 7
 * needs: shmem_query_initialized shmem_query_thread shmem_malloc
 */
#include "check.h"

static long word;

static int initialized(void) {
    int answer = 77;
    shmem_query_initialized(&answer);
    return answer != 0;
}

int main(void) {
    int level = -1;
    CHECK(!initialized());
    shmem_query_thread(&level);
    for (int round = 0; round < 3; round++) {
        shmem_init();
        me = shmem_my_pe();
        npes = shmem_n_pes();
        CHECK(initialized());
        int provided = -1;
        CHECK_EQ(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
        CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
        shmem_init();
        CHECK_EQ(shmem_my_pe(), me);
        long *block = symmetric(sizeof(long) * 8);
        block[3] = -1;
        word = round;
        shmem_barrier_all();
        shmem_long_p(&block[3], me * 10 + round, (me + 1) % npes);
        shmem_finalize();
        /* That was a barrier with completion, not the end: the block is still there. */
        CHECK(initialized());
        CHECK_EQ(block[3], (me + npes - 1) % npes * 10 + round);
        shmem_finalize();
        CHECK(initialized());
        CHECK_EQ(shmem_long_g(&word, (me + 1) % npes), round);
        shmem_finalize();
        CHECK(!initialized());
        shmem_query_thread(&level);
        /* Static objects keep their values when the library lets go of them. */
        CHECK_EQ(word, round);
        word = 99;
        CHECK_EQ(word, 99);
    }
    return 0;
}

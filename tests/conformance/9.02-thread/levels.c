/* 9.2: every level can be requested, what is provided is reported by query_thread as well; MULTIPLE is provided.
 * pes: 1 2
 * needs: shmem_init_thread shmem_query_thread
 */
#include "check.h"

int main(void) {
    static const int levels[] = {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED, SHMEM_THREAD_SERIALIZED,
                                 SHMEM_THREAD_MULTIPLE};
    for (int i = 0; i < 4; i++) {
        int provided = -1, queried = -2;
        CHECK_EQ(shmem_init_thread(levels[i], &provided), 0);
        me = shmem_my_pe();
        npes = shmem_n_pes();
        CHECKF(provided >= levels[i] && provided <= SHMEM_THREAD_MULTIPLE, "asked %d, got %d", levels[i], provided);
        shmem_query_thread(&queried);
        CHECK_EQ(queried, provided);
        shmem_finalize();
    }
    return 0;
}

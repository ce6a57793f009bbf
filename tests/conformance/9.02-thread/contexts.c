/* 9.2, 9.5: threads make, use and destroy contexts at the same time; a context of one thread is not disturbed.
 * pes: 1 2 3
 * cflags: -pthread
 * needs: shmem_ctx_create shmem_ctx_destroy shmem_init_thread shmem_ctx_long_put_nbi
 */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 1000 };

static long block[THREADS][16];

static void *work(void *argument) {
    int id = (int)(intptr_t)argument, next = (me + 1) % npes;
    long source[16], back[16];
    for (long round = 0; round < ROUNDS; round++) {
        shmem_ctx_t ctx[2];
        for (int c = 0; c < 2; c++) CHECK_EQ(shmem_ctx_create(c ? SHMEM_CTX_PRIVATE : 0, &ctx[c]), 0);
        CHECK(ctx[0] != ctx[1]);
        for (int k = 0; k < 16; k++) source[k] = round * 100 + id * 16 + k;
        shmem_ctx_long_put_nbi(ctx[0], block[id], source, 16, next);
        shmem_ctx_quiet(ctx[0]);
        shmem_ctx_long_get_nbi(ctx[1], back, block[id], 16, next);
        shmem_ctx_quiet(ctx[1]);
        CHECK(memcmp(source, back, sizeof source) == 0);
        shmem_team_t team = SHMEM_TEAM_INVALID;
        CHECK_EQ(shmem_ctx_get_team(ctx[0], &team), 0);
        CHECK(team == SHMEM_TEAM_WORLD);
        for (int c = 0; c < 2; c++) shmem_ctx_destroy(ctx[c]);
    }
    return NULL;
}

int main(void) {
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    pthread_t threads[THREADS];
    for (int id = 0; id < THREADS; id++) CHECK_EQ(pthread_create(&threads[id], NULL, work, (void *)(intptr_t)id), 0);
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    return end();
}

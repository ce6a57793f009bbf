/* 9.5.1, 9.5.3: contexts with every combination of options; handles can be copied and compared; destroy completes what
 * is pending; many at once; invalid handles.
 * pes: 1 2 3 4
 * needs: shmem_ctx_create shmem_ctx_destroy shmem_malloc shmem_ctx_long_put_nbi
 */
#include "check.h"

enum { N = 512, MANY = 32 };

int main(void) {
    begin();
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    long *block = symmetric(N * sizeof(long)), source[N];
    for (long options = 0; options < 8; options++) {
        long bits = (options & 1 ? SHMEM_CTX_SERIALIZED : 0) | (options & 2 ? SHMEM_CTX_PRIVATE : 0) |
                    (options & 4 ? SHMEM_CTX_NOSTORE : 0);
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        CHECK_EQ(shmem_ctx_create(bits, &ctx), 0);
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
        shmem_ctx_t copy = ctx;
        CHECK(copy == ctx);
        for (int k = 0; k < N; k++) source[k] = me * 10000 + k + options;
        shmem_barrier_all();
        shmem_ctx_long_put_nbi(copy, block, source, N, next);
        /* Destroying completes. */
        shmem_ctx_destroy(ctx);
        shmem_barrier_all();
        for (int k = 0; k < N; k++) CHECK_EQ(block[k], before * 10000 + k + options);
        shmem_barrier_all();
    }
    shmem_ctx_t many[MANY];
    for (int k = 0; k < MANY; k++) {
        CHECK_EQ(shmem_ctx_create(0, &many[k]), 0);
        for (int o = 0; o < k; o++) CHECK(many[o] != many[k]);
    }
    for (int k = 0; k < MANY; k++) shmem_ctx_long_p(many[k], &block[k], me + k, next);
    for (int k = 0; k < MANY; k++) shmem_ctx_quiet(many[k]);
    shmem_barrier_all();
    for (int k = 0; k < MANY; k++) CHECK_EQ(block[k], before + k);
    for (int k = 0; k < MANY; k++) shmem_ctx_destroy(many[k]);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_free(block);
    return end();
}

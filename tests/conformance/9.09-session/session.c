/* 9.9: sessions are hints: results, completion and ordering are the same inside; starting twice combines, stopping
 * twice does nothing, an invalid context is ignored; total_ops may be wrong.
 * pes: 1 2 4
 * needs: shmem_ctx_session_start shmem_ctx_session_stop shmem_long_p
 */
#include "check.h"

static long block[64];
static uint64_t counter;

int main(void) {
    begin();
    open_contexts();
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    shmem_ctx_session_config_t config;
    config.total_ops = 3;
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int c = 0; c < ncontexts; c++) {
        shmem_ctx_t ctx = contexts[c];
        memset(block, 0, sizeof block);
        counter = 0;
        shmem_barrier_all();
        shmem_ctx_session_start(ctx, 0, NULL, 0);
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        config.total_ops = SIZE_MAX;
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        for (int k = 0; k < 64; k++) shmem_ctx_long_p(ctx, &block[k], me * 100 + k, next);
        for (int k = 0; k < 100; k++) shmem_ctx_uint64_atomic_add(ctx, &counter, 2, 0);
        /* A get after quiet sees the puts: the session changes no completion. */
        shmem_ctx_quiet(ctx);
        for (int k = 0; k < 64; k++) CHECK_EQ(shmem_ctx_long_g(ctx, &block[k], next), me * 100 + k);
        shmem_ctx_session_stop(ctx);
        shmem_ctx_session_stop(ctx);
        shmem_ctx_quiet(ctx);
        shmem_barrier_all();
        for (int k = 0; k < 64; k++) CHECK_EQ(block[k], before * 100 + k);
        if (me == 0) CHECK_EQ(counter, 200 * npes);
        shmem_barrier_all();
    }
    close_contexts();
    return end();
}

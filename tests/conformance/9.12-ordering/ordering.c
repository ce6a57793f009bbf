/* 9.12.1, 9.12.2, 9.12.3: after fence the flag is not seen before the data, after quiet and pe_quiet the data is on
 * the target, on the default and on created contexts; nonblocking puts, puts and atomics alike; an invalid context is
 * ignored.
 * pes: 1 2 3 4 7
 * needs: shmem_malloc shmem_fence shmem_quiet shmem_ctx_quiet shmem_ctx_fence
 */
#include "check.h"

enum { N = 1024, ROUNDS = 200 };

static long data[N];
static long flag;
static long sum;

static void quiet_pe(shmem_ctx_t ctx, int pe, bool plain) {
#ifdef HAVE_shmem_pe_quiet
    int targets[2] = {pe, me};
    if (plain) shmem_pe_quiet(targets, 2); else shmem_ctx_pe_quiet(ctx, targets, 1);
#else
    if (plain) shmem_quiet(); else shmem_ctx_quiet(ctx);
#endif
}

static void fences(shmem_ctx_t ctx, bool plain) {
    int next = (me + 1) % npes;
    long source[N];
    data[0] = data[N - 1] = flag = 0;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        for (int k = 0; k < N; k++) source[k] = round;
        if (plain) {
            shmem_long_put_nbi(data, source, N, next);
            shmem_fence();
            shmem_long_p(&flag, round, next);
        } else {
            shmem_ctx_long_put(ctx, data, source, N, next);
            shmem_ctx_fence(ctx);
            shmem_ctx_long_p(ctx, &flag, round, next);
        }
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECKF(data[0] >= round && data[N - 1] >= round, "round %ld: %ld %ld", round, data[0], data[N - 1]);
        if (plain) shmem_quiet(); else shmem_ctx_quiet(ctx);
        shmem_sync_all();
    }
}

static void quiets(shmem_ctx_t ctx, bool plain) {
    int next = (me + 1) % npes;
    static long source[N];
    long back[N];
    sum = 0;
    shmem_barrier_all();
    for (long round = 1; round <= 50; round++) {
        for (int k = 0; k < N; k++) source[k] = round * 1000 + me;
        if (plain) shmem_long_put_nbi(data, source, N, next); else shmem_ctx_long_put_nbi(ctx, data, source, N, next);
        if (plain) shmem_long_atomic_add(&sum, 1, next); else shmem_ctx_long_atomic_add(ctx, &sum, 1, next);
        switch (round % 2) {
        case 0: if (plain) shmem_quiet(); else shmem_ctx_quiet(ctx); break;
        case 1: quiet_pe(ctx, next, plain); break;
        }
        /* Completed: a get from the target sees it without any synchronization. */
        shmem_long_get(back, data, N, next);
        for (int k = 0; k < N; k++) CHECK_EQ(back[k], round * 1000 + me);
        CHECK_EQ(shmem_long_g(&sum, next), round);
        /* The source may be used again. */
        memset(source, 0, sizeof source);
    }
    shmem_barrier_all();
}

int main(void) {
    begin();
    open_contexts();
    fences(SHMEM_CTX_DEFAULT, true);
    quiets(SHMEM_CTX_DEFAULT, true);
    for (int c = 0; c < ncontexts; c++) {
        fences(contexts[c], false);
        quiets(contexts[c], false);
    }
#ifdef SHMEM_CTX_INVALID
    /* Easy to get wrong: an invalid handle is ignored. */
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
#endif
#ifdef HAVE_shmem_pe_quiet
    shmem_pe_quiet(NULL, 0);
#endif
    close_contexts();
    return end();
}

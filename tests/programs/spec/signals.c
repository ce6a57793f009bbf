/* 9.8 and 9.9: data that travels round the ring with its signal; random updates in a session. */
#include <shmem.h>
#include "must.h"

#define COUNT 2048

static void ring(int me, int n) {
    static uint64_t source[COUNT], arrived;
    uint64_t *data = shmem_calloc(COUNT, sizeof *data);
    MUST(data != NULL);
    if (me == 0) {
        for (int i = 0; i < COUNT; i++) source[i] = 3 * (uint64_t)i + 1;
        shmem_put_signal(data, source, COUNT, &arrived, 1, SHMEM_SIGNAL_SET, 1 % n);
    }
    MUST(shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1) == 1);
    for (int i = 0; i < COUNT; i++) MUST(data[i] == 3 * (uint64_t)i + 1);
    if (me != 0) shmem_put_signal_nbi(data, data, COUNT, &arrived, 1, SHMEM_SIGNAL_SET, (me + 1) % n);
    shmem_barrier_all();
    shmem_signal_set(&arrived, 0, me);
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) shmem_signal_add(&arrived, (uint64_t)me + 1, pe);
    shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, (uint64_t)n * (uint64_t)(n + 1) / 2);
    MUST(shmem_signal_fetch(&arrived) == (uint64_t)n * (uint64_t)(n + 1) / 2);
    shmem_barrier_all();
    shmem_free(data);
}

static void session(int me, int n) {
    enum { TABLE = 512, UPDATES = 4000 };
    static uint64_t table[TABLE];
    shmem_ctx_t ctx;
    MUST(shmem_ctx_create(0, &ctx) == 0);
    shmem_ctx_session_config_t config = {.total_ops = UPDATES};
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    /* Options add up. */
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    uint64_t random = 88172645463325252u + (uint64_t)me;
    for (int i = 0; i < UPDATES; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        shmem_atomic_add(ctx, &table[random % TABLE], (uint64_t)1, (int)((random >> 33) % (uint64_t)n));
    }
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_quiet(ctx);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, NULL, 0);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    static uint64_t mine, all;
    mine = 0;
    for (int i = 0; i < TABLE; i++) mine += table[i];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    MUST(all == (uint64_t)UPDATES * (uint64_t)n);
}

int main(void) {
    shmem_init();
    ring(shmem_my_pe(), shmem_n_pes());
    session(shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}

/* 9.5: contexts on several teams that exchange with their neighbours; a sum whose transfers run ahead on two
 * contexts. */
#include <shmem.h>
#include "must.h"

static int from_left[3];

static void neighbours(void) {
    int n = shmem_n_pes(), me = shmem_my_pe();
    for (int step = 1; step <= 2; step++) {
        shmem_team_config_t config = {.num_contexts = 1};
        shmem_team_t team;
        MUST(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, step, (n + step - 1) / step, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        MUST((shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx) == 0) == (team != SHMEM_TEAM_INVALID));
        if (ctx != SHMEM_CTX_INVALID) {
            int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
            shmem_put(ctx, &from_left[step], &me, 1, (mine + 1) % size);
            shmem_ctx_quiet(ctx);
            shmem_team_sync(team);
            MUST(from_left[step] == (mine + size - 1) % size * step);
        }
        /* Neither does anything for those outside. */
        shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx);
        shmem_team_destroy(team);
    }
}

#define BLOCK 64
#define BLOCKS 16

static void pipeline(void) {
    int n = shmem_n_pes(), me = shmem_my_pe(), source_pe = (me + 1) % n;
    static long data[BLOCK * BLOCKS];
    long window[2][BLOCK], sum = 0;
    shmem_ctx_t ctx[2];
    for (int i = 0; i < BLOCK * BLOCKS; i++) data[i] = me * 1000 + i;
    for (int i = 0; i < 2; i++) MUST(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[i]) == 0);
    shmem_barrier_all();
    shmem_get_nbi(ctx[0], window[0], data, BLOCK, source_pe);
    for (int b = 0; b < BLOCKS; b++) {
        if (b + 1 < BLOCKS) shmem_get_nbi(ctx[(b + 1) % 2], window[(b + 1) % 2], data + (b + 1) * BLOCK, BLOCK,
                                          source_pe);
        shmem_ctx_quiet(ctx[b % 2]);
        for (int i = 0; i < BLOCK; i++) sum += window[b % 2][i];
    }
    long count = BLOCK * BLOCKS;
    MUST(sum == count * source_pe * 1000 + count * (count - 1) / 2);
    for (int i = 0; i < 2; i++) shmem_ctx_destroy(ctx[i]);
    shmem_barrier_all();
}

int main(void) {
    shmem_init();
    neighbours();
    pipeline();
    shmem_finalize();
    return 0;
}

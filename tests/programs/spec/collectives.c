/* 9.10: barriers on all and on active sets, syncs on teams, exchanges, concatenations, reductions, and offsets by a
 * scan. */
#include <shmem.h>
#include <string.h>
#include "must.h"

static void barriers(int me, int n) {
    static long flag = -1;
    static long sync[SHMEM_BARRIER_SYNC_SIZE];
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) sync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (me % 2 == 0) {
        int evens = (n + 1) / 2, next = (me + 2) / 2 < evens ? me + 2 : 0;
        for (int round = 0; round < 10; round++) {
            shmem_p(&flag, (long)round, next);
            shmem_barrier(0, 1, evens, sync);
            MUST(flag == round);
            shmem_sync(0, 1, evens, sync);
        }
        for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) MUST(sync[i] == SHMEM_SYNC_VALUE);
    }
    shmem_sync_all();
    /* Thirds, each on its own. */
    static long word;
    shmem_team_t third = SHMEM_TEAM_INVALID, got;
    for (int start = 0; start < 3 && start < n; start++) {
        MUST(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 3, (n - start + 2) / 3, NULL, 0, &got) == 0);
        if (got != SHMEM_TEAM_INVALID) third = got;
    }
    shmem_p(&word, (long)me, me);
    shmem_quiet();
    MUST(shmem_sync(third) == 0);
    shmem_team_destroy(third);
}

static void exchanges(int me, int n) {
    int64_t *source = shmem_malloc(2 * (size_t)n * 2 * sizeof *source),
        *dest = shmem_calloc(2 * (size_t)n * 2, sizeof *dest);
    MUST(source != NULL && dest != NULL);
    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < 2; i++) source[pe * 2 + i] = me + (int64_t)(100 * pe + 10000 * i);
    shmem_team_sync(SHMEM_TEAM_WORLD);
    MUST(shmem_alltoall(SHMEM_TEAM_WORLD, dest, source, 2) == 0);
    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < 2; i++) MUST(dest[pe * 2 + i] == pe + (int64_t)(100 * me + 10000 * i));
    /* The same with gaps in dest. */
    memset(dest, 0, 2 * (size_t)n * 2 * sizeof *dest);
    shmem_team_sync(SHMEM_TEAM_WORLD);
    MUST(shmem_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 1, 2) == 0);
    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < 2; i++) {
            MUST(dest[(pe * 2 + i) * 2] == pe + (int64_t)(100 * me + 10000 * i));
            MUST(dest[(pe * 2 + i) * 2 + 1] == 0);
        }
    shmem_free(dest);
    shmem_free(source);
}

static void together(int me, int n) {
    static long source[4], dest[4], all[64], counts[64];
    for (int i = 0; i < 4; i++) source[i] = me == 0 ? i + 1 : 0;
    shmem_barrier_all();
    MUST(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 0) == 0);
    for (int i = 0; i < 4; i++) MUST(dest[i] == i + 1);
    /* PE i gives i values. */
    for (int i = 0; i < 4; i++) source[i] = me * 10 + i;
    shmem_sync_all();
    int give = me % 4;
    MUST(shmem_collect(SHMEM_TEAM_WORLD, all, source, (size_t)give) == 0);
    int at = 0;
    for (int pe = 0; pe < n; pe++)
        for (int i = 0; i < pe % 4; i++) MUST(all[at++] == pe * 10 + i);
    MUST(shmem_fcollect(SHMEM_TEAM_WORLD, counts, source, 1) == 0);
    for (int pe = 0; pe < n; pe++) MUST(counts[pe] == pe * 10);
}

/* Which numbers were drawn by anybody? */
static void drawn(int me, int n) {
    static unsigned char mine[64], any[64];
    for (int i = 0; i < 8; i++) mine[(me * 5 + i * 3) % 64] = 1;
    shmem_barrier_all();
    MUST(shmem_or_reduce(SHMEM_TEAM_WORLD, any, mine, 64) == 0);
    for (int slot = 0; slot < 64; slot++) {
        int expected = 0;
        for (int pe = 0; pe < n; pe++)
            for (int i = 0; i < 8; i++) expected |= (pe * 5 + i * 3) % 64 == slot;
        MUST(any[slot] == expected);
    }
    static double sums[2];
    sums[0] = me;
    sums[1] = 1;
    shmem_barrier_all();
    MUST(shmem_sum_reduce(SHMEM_TEAM_WORLD, sums, sums, 2) == 0);
    MUST(sums[0] == n * (n - 1) / 2.0 && sums[1] == n);
}

/* Everyone's share of different length into one array on one PE: the scan gives the places. */
static void gather_on(int who, int me, int n) {
    static size_t share, place;
    static long pool[256];
    long mine[16];
    share = (size_t)(me * 3 + 1) % 16;
    for (size_t i = 0; i < share; i++) mine[i] = me * 100 + (long)i;
    shmem_sync_all();
    MUST(shmem_sum_exscan(SHMEM_TEAM_WORLD, &place, &share, 1) == 0);
    shmem_put(pool + place, mine, share, who);
    shmem_quiet();
    shmem_sync_all();
    if (me == who) {
        size_t at = 0;
        for (int pe = 0; pe < n; pe++)
            for (int i = 0; i < (pe * 3 + 1) % 16; i++) MUST(pool[at++] == pe * 100 + i);
    }
    static int up[2];
    up[0] = up[1] = 1;
    shmem_sync_all();
    MUST(shmem_sum_inscan(SHMEM_TEAM_WORLD, up, up, 2) == 0 && up[0] == me + 1 && up[1] == me + 1);
    MUST(shmem_sum_exscan(SHMEM_TEAM_WORLD, up, up, 2) == 0 && up[0] == me * (me + 1) / 2);
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    barriers(me, n);
    exchanges(me, n);
    together(me, n);
    drawn(me, n);
    gather_on(n - 1, me, n);
    shmem_finalize();
    return 0;
}

/* 9.4: every other PE as a team and its numbers in the world; a box of PEs from two splits; handles that outlive a life
 * of the library do not. */
#include <shmem.h>
#include "must.h"

static void evens(int me, int n) {
    shmem_team_t team = SHMEM_TEAM_WORLD;
    MUST(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &team) == 0);
    MUST((team == SHMEM_TEAM_INVALID) == (me % 2 == 1));
    if (team != SHMEM_TEAM_INVALID) {
        int mine = shmem_team_my_pe(team);
        MUST(mine == me / 2 && shmem_team_n_pes(team) == (n + 1) / 2);
        MUST(shmem_team_translate_pe(team, mine, SHMEM_TEAM_WORLD) == me);
        MUST(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 1, team) == -1);
    }
    shmem_team_destroy(team);
}

/* x varies fastest; planes of x * y PEs, rows of x. */
static void box(int me, int n) {
    int x = n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1, rest = n / x, y = rest % 2 == 0 ? 2 : 1;
    shmem_team_t xs, yzs, ys, zs;
    MUST(shmem_team_split_2d(SHMEM_TEAM_WORLD, x, NULL, 0, &xs, NULL, 0, &yzs) == 0);
    MUST(shmem_team_split_2d(yzs, y, NULL, 0, &ys, NULL, 0, &zs) == 0);
    shmem_team_destroy(yzs);
    MUST(shmem_team_my_pe(xs) == me % x && shmem_team_my_pe(ys) == me / x % y && shmem_team_my_pe(zs) == me / x / y);
    MUST(shmem_team_n_pes(xs) * shmem_team_n_pes(ys) * shmem_team_n_pes(zs) == n);
    for (int turn = 0; turn < n; turn++) MUST(shmem_team_sync(SHMEM_TEAM_WORLD) == 0);
    MUST(shmem_team_sync(xs) == 0 && shmem_team_sync(ys) == 0 && shmem_team_sync(zs) == 0);
    shmem_team_destroy(xs);
    shmem_team_destroy(ys);
    shmem_team_destroy(zs);
}

/* A last row that is not full. */
static void ragged(int me, int n) {
    shmem_team_t row, column;
    MUST(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) == 0);
    MUST(shmem_team_n_pes(row) == (me / 2 * 2 + 2 <= n ? 2 : 1) || n == 1);
    MUST(shmem_team_n_pes(column) == (n == 1 ? 1 : (n - me % 2 + 1) / 2));
    shmem_team_destroy(row);
    shmem_team_destroy(column);
}

/* When there is room for one more team only, a split into two gives none, and takes none. */
static void full_house(int n) {
    static shmem_team_t teams[1 << 16];
    int made = 0;
    while (made < 1 << 16 && shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[made]) == 0) made++;
    MUST(made > 100 && made < 1 << 16 && teams[made] == SHMEM_TEAM_INVALID);
    shmem_team_destroy(teams[--made]);
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    MUST(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) != 0);
    MUST(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
    MUST(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[made++]) == 0);
    while (made > 0) shmem_team_destroy(teams[--made]);
}

int main(void) {
    for (int life = 0; life < 3; life++) {
        shmem_init();
        int me = shmem_my_pe(), n = shmem_n_pes();
        evens(me, n);
        box(me, n);
        ragged(me, n);
        if (life == 0 && n <= 3) full_house(n);
        /* The last finalize ends what is left: more than fit at a time over three lives. */
        for (int i = 0; i < 400; i++) {
            shmem_team_t left;
            shmem_ctx_t ctx;
            MUST(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &left) == 0);
            MUST(shmem_team_create_ctx(left, 0, &ctx) == 0);
        }
        shmem_finalize();
    }
    return 0;
}

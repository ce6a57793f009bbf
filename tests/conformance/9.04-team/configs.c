/* 9.4.6, 9.4.7: where one PE asks for a team that cannot be, by a number of contexts or a mask that nothing is known
 * of, the others are told as well: all PEs of the parent have a nonzero result and no team, or all have what they asked
 * for.
 * pes: 1 2 3 4
 * needs: shmem_team_split_strided shmem_team_split_2d shmem_team_destroy shmem_int_max_reduce shmem_int_min_reduce
 */
#include "check.h"

#include <limits.h>

static int mine[1], most[1], least[1];

/* Whether all PEs have a result of 0; fails where some have and some have not. */
static bool all_have(int result) {
    mine[0] = result != 0;
    CHECK_EQ(shmem_int_max_reduce(SHMEM_TEAM_WORLD, most, mine, 1), 0);
    CHECK_EQ(shmem_int_min_reduce(SHMEM_TEAM_WORLD, least, mine, 1), 0);
    CHECK_EQ(most[0], least[0]);
    return most[0] == 0;
}

static void try_strided(int size, const shmem_team_config_t *config, long mask) {
    shmem_team_t team = SHMEM_TEAM_WORLD;
    bool have = all_have(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, config, mask, &team));
    CHECK_EQ(team != SHMEM_TEAM_INVALID, have && me < size);
    if (team != SHMEM_TEAM_INVALID) shmem_team_destroy(team);
}

static void try_grid(const shmem_team_config_t *x, long x_mask, const shmem_team_config_t *y, long y_mask) {
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    bool have = all_have(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, x, x_mask, &row, y, y_mask, &column));
    CHECK_EQ(row != SHMEM_TEAM_INVALID, have);
    CHECK_EQ(column != SHMEM_TEAM_INVALID, have);
    if (have) {
        shmem_team_destroy(row);
        shmem_team_destroy(column);
    }
}

int main(void) {
    begin();
    const long known = SHMEM_TEAM_NUM_CONTEXTS;
    const int numbers[] = {-1, -5, INT_MIN, INT_MAX};
    const long masks[] = {known | 64, 64, LONG_MIN | known, ~0L};
    const shmem_team_config_t good = {.num_contexts = 1};
    for (int odd = 0; odd < npes; odd++) {
        for (int k = 0; k < 4; k++) {
            shmem_team_config_t config = {.num_contexts = me == odd ? numbers[k] : 1};
            long mask = me == odd ? masks[k] : known;
            for (int size = 1; size <= npes; size++) {
                try_strided(size, &config, known);
                try_strided(size, &good, mask);
            }
            try_grid(&config, known, &good, known);
            try_grid(&good, known, &config, known);
            try_grid(&good, mask, &good, known);
            try_grid(&good, known, &good, mask);
        }
    }
    /* What was refused leaves nothing behind. */
    try_strided(npes, &good, known);
    try_grid(&good, known, &good, known);
    return end();
}

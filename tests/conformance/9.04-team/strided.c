/* 9.4.6: split_strided with every start, stride (positive, negative, zero) and size that fit: members, numbers,
 * translation, team pointers and collectives of the new team; others get INVALID and 0; triplets that leave the team
 * give nonzero and INVALID everywhere.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_team_split_strided shmem_team_destroy shmem_team_translate_pe shmem_team_sync
 */
#include "check.h"

static long word, total;

static void try_split(shmem_team_t parent, int start, int stride, int size) {
    int parent_size = shmem_team_n_pes(parent), parent_me = shmem_team_my_pe(parent);
    int last = start + stride * (size - 1);
    bool valid = size > 0 && start >= 0 && start < parent_size && last >= 0 && last < parent_size;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int result = shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team);
    if (!valid) {
        CHECKF(result != 0 && team == SHMEM_TEAM_INVALID, "triplet %d %d %d of %d", start, stride, size, parent_size);
        return;
    }
    CHECKF(result == 0, "triplet %d %d %d of %d: %d", start, stride, size, parent_size, result);
    int number = -1;
    for (int k = 0; k < size; k++) if (start + k * stride == parent_me) number = k;
    if (number < 0) {
        CHECKF(team == SHMEM_TEAM_INVALID, "triplet %d %d %d of %d: not a member", start, stride, size, parent_size);
    } else {
        CHECK(team != SHMEM_TEAM_INVALID);
        CHECK_EQ(shmem_team_my_pe(team), number);
        CHECK_EQ(shmem_team_n_pes(team), size);
        for (int k = 0; k < size; k++) {
            CHECK_EQ(shmem_team_translate_pe(team, k, parent), start + k * stride);
            CHECK_EQ(shmem_team_translate_pe(parent, start + k * stride, team), k);
#ifdef HAVE_shmem_team_ptr
            CHECK(shmem_team_ptr(team, &word, k) ==
                  shmem_ptr(&word, shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD)));
#endif
        }
        for (int pe = 0; pe < parent_size; pe++) {
            bool member = false;
            for (int k = 0; k < size; k++) member |= start + k * stride == pe;
            if (!member) CHECK_EQ(shmem_team_translate_pe(parent, pe, team), -1);
        }
        CHECK_EQ(shmem_team_translate_pe(team, size, parent), -1);
#ifdef HAVE_shmem_team_get_config
        shmem_team_config_t config = {.num_contexts = -1};
        CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
        CHECK_EQ(config.num_contexts, 0);
#endif
        int first = shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD);
        CHECK_EQ(shmem_team_sync(team), 0);
        shmem_long_atomic_inc(&total, first);
        shmem_quiet();
        CHECK_EQ(shmem_team_sync(team), 0);
        if (number == 0) {
            CHECKF(total == size, "triplet %d %d %d: %ld came", start, stride, size, total);
            total = 0;
        }
        CHECK_EQ(shmem_team_sync(team), 0);
    }
    shmem_team_destroy(team);
}

static void try_all(shmem_team_t parent) {
    int n = shmem_team_n_pes(parent);
    int step = n > 8 ? 3 : 1;
    for (int start = 0; start < n; start += step) {
        for (int stride = -n + 1; stride < n; stride += step) {
            if (stride == 0) { try_split(parent, start, 0, 1); continue; }
            for (int size = 1; size <= n; size += step) {
                int last = start + stride * (size - 1);
                if (last >= 0 && last < n) try_split(parent, start, stride, size);
            }
        }
    }
    try_split(parent, 0, 1, n);
    try_split(parent, n - 1, -1, n);
    try_split(parent, 0, 1, n + 1);
    try_split(parent, n, 1, 1);
    try_split(parent, -1, 1, 1);
    try_split(parent, 0, 1, 0);
    try_split(parent, 0, 1, -3);
    try_split(parent, 0, -1, 2);
    if (n > 1) try_split(parent, n - 1, 1, 2);
}

int main(void) {
    begin();
    try_all(SHMEM_TEAM_WORLD);
    try_all(SHMEM_TEAM_SHARED);
    /* A team of a team: the odd PEs, reversed. */
    shmem_team_t odd;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes > 1 ? 1 : 0, 2, npes > 1 ? npes / 2 : 1, NULL, 0, &odd),
             0);
    if (odd != SHMEM_TEAM_INVALID) {
        try_all(odd);
        int n = shmem_team_n_pes(odd);
        shmem_team_t reversed;
        CHECK_EQ(shmem_team_split_strided(odd, n - 1, -1, n, NULL, 0, &reversed), 0);
        CHECK_EQ(shmem_team_my_pe(reversed), n - 1 - shmem_team_my_pe(odd));
        CHECK_EQ(shmem_team_translate_pe(reversed, shmem_team_my_pe(reversed), SHMEM_TEAM_WORLD), me);
        try_all(reversed);
        shmem_team_destroy(reversed);
        shmem_team_destroy(odd);
    }
    shmem_team_t none = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &none) != 0);
    CHECK(none == SHMEM_TEAM_INVALID);
    return end();
}

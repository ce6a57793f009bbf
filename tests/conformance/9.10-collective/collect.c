/* 9.10.8: collect and fcollect of every type and mem on every team: order by team number, different and zero counts in
 * collect (with no source where there is nothing), nothing beyond the total is written.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_collect shmem_long_fcollect
 */
#include "teams.h"

enum { MOST = 37, N = MOST * 16 + 8 };

//@each shmem_{collect} shmem_{fcollect}
static TYPE dest_TYPENAME[N], source_TYPENAME[MOST];

static void run_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (int shape = 0; shape < 5; shape++) {
        size_t counts[64], total = 0;
        for (int k = 0; k < team->size; k++) {
            switch (shape) {
            case 0: counts[k] = 0; break;
            case 1: counts[k] = 1; break;
            case 2: counts[k] = mix((uint64_t)k + 7) % MOST; break;
            case 3: counts[k] = k % 2 ? 0 : MOST - 4; break;
            default: counts[k] = MOST; break;
            }
        }
        for (int same = 0; same < 2; same++) {
            for (size_t k = 0; k < N; k++) dest[k] = (TYPE)1;
            for (size_t k = 0; k < MOST; k++) source[k] = VALUE(TYPE, k + 1000 * (size_t)me);
            sync_team(team);
            if (same) CHECK_EQ(shmem_{fcollect}(team->handle, dest, source, counts[0]), 0);
            else CHECK_EQ(shmem_{collect}(team->handle, dest, counts[team->number] > 0 ? source : NULL,
                                          counts[team->number]), 0);
            size_t at = 0;
            for (int pe = 0; pe < team->size; pe++) {
                size_t n = same ? counts[0] : counts[pe];
                for (size_t k = 0; k < n; k++, at++)
                    CHECKF(dest[at] == VALUE(TYPE, k + 1000 * (size_t)team->world[pe]),
                           "TYPENAME team %s, shape %d: element %zu of PE %d",
                           team->name, shape, k, pe);
            }
            for (; at < N; at++) CHECKF(dest[at] == (TYPE)1, "TYPENAME team %s, shape %d: beyond the end", team->name,
                                        shape);
            sync_team(team);
        }
    }
}
//@end

int main(void) {
    begin();
    open_teams();
    void *dest = symmetric(N * 16), *source = symmetric(MOST * 16);
    FOR_EACH_TEAM(team) {
//@each shmem_{collect} shmem_{fcollect}
        if (npes < 16) run_TYPENAME(team, dest_TYPENAME, source_TYPENAME);
        run_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

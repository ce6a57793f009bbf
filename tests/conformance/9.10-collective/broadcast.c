/* 9.10.7: broadcast of every type and mem from every root of every team: dest is written on the root too (easy to get
 * wrong), zero elements write nothing, elements beyond stay; heap and static buffers.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_broadcast
 */
#include "teams.h"

enum { N = 260 };

static const size_t counts[] = {0, 1, 5, 257};

//@each shmem_{broadcast}
static TYPE dest_TYPENAME[N], source_TYPENAME[N];

static void run_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (int root = 0; root < team->size; root += 1 + team->size / 4) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            size_t n = counts[i];
            for (size_t k = 0; k < N; k++) {
                dest[k] = (TYPE)1;
                source[k] = VALUE(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_{broadcast}(team->handle, dest, source, n, root), 0);
            for (size_t k = 0; k < N; k++) {
                TYPE expected = k < n ? VALUE(TYPE, k + 1000 * (size_t)team->world[root]) : (TYPE)1;
                CHECKF(dest[k] == expected, "TYPENAME team %s, root %d, %zu elements: element %zu", team->name, root,
                       n, k);
            }
            sync_team(team);
        }
    }
}
//@end

int main(void) {
    begin();
    open_teams();
    void *dest = symmetric(N * 16), *source = symmetric(N * 16);
    FOR_EACH_TEAM(team) {
//@each shmem_{broadcast}
        if (npes < 16) run_TYPENAME(team, dest_TYPENAME, source_TYPENAME);
        run_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

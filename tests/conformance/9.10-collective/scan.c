/* 9.10.10: inclusive and exclusive sums of every type on every team, in place and not; team PE 0 of an exclusive scan
 * gets 0, in place too (easy to get wrong).
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_sum_inscan shmem_long_sum_exscan
 */
#include <complex.h>

#include "teams.h"

enum { N = 9005 };

static const size_t counts[] = {0, 1, 3, 257, 9001};

#define INPUT(TYPE, k) ((TYPE)((double)(1 + mix(k) % 3) + (double)(mix((k) + 77777) % 2) * _Complex_I))

//@each shmem_TYPENAME_sum_inscan shmem_TYPENAME_sum_exscan
static TYPE dest_TYPENAME[N], source_TYPENAME[N];

static void run_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int kind = 0; kind < 4; kind++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            bool in_place = kind & 1, exclusive = kind & 2;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            if (exclusive) CHECK_EQ(shmem_TYPENAME_sum_exscan(team->handle, target, source, n), 0);
            else CHECK_EQ(shmem_TYPENAME_sum_inscan(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = (TYPE)0;
                for (int pe = 0; pe < team->number + !exclusive; pe++)
                    expected = (TYPE)(expected + INPUT(TYPE, k + 1000 * (size_t)team->world[pe]));
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME team %s, %zu elements, kind %d: element %zu", team->name, n,
                       kind, k);
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
//@each shmem_TYPENAME_sum_inscan shmem_TYPENAME_sum_exscan
        if (npes < 16) run_TYPENAME(team, dest_TYPENAME, source_TYPENAME);
        run_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

/* 9.10.9: max and min reductions, of every type that has it, on every team, with zero, one, odd and many elements, in
 * place and not, on heap and static buffers; elements beyond stay.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_max_reduce
 */
#include <complex.h>

#include "teams.h"

enum { N = 9005 };

static const size_t counts[] = {0, 1, 3, 64, 521, 9001};

/* Negative values too, for floating point as well. */
#define INPUT(TYPE, k) ((TYPE)(int64_t)mix(k))
//@each shmem_TYPENAME_max_reduce
static TYPE max_dest_TYPENAME[N], max_source_TYPENAME[N];

static void max_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == max_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_max_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected > next ? expected : next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME max team %s, %zu elements, in place %d: element %zu",
                       team->name, n, in_place, k);
            }
            sync_team(team);
        }
    }
}
//@end

//@each shmem_TYPENAME_min_reduce
static TYPE min_dest_TYPENAME[N], min_source_TYPENAME[N];

static void min_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == min_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_min_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected < next ? expected : next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME min team %s, %zu elements, in place %d: element %zu",
                       team->name, n, in_place, k);
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
//@each shmem_TYPENAME_max_reduce
        if (npes < 16) max_TYPENAME(team, max_dest_TYPENAME, max_source_TYPENAME);
        max_TYPENAME(team, dest, source);
//@end
//@each shmem_TYPENAME_min_reduce
        if (npes < 16) min_TYPENAME(team, min_dest_TYPENAME, min_source_TYPENAME);
        min_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

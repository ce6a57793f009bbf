/* 9.10.9: and, or and xor reductions, of every type that has it, on every team, with zero, one, odd and many elements,
 * in place and not, on heap and static buffers; elements beyond stay.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_uint64_and_reduce
 */
#include <complex.h>

#include "teams.h"

enum { N = 9005 };

static const size_t counts[] = {0, 1, 3, 64, 521, 9001};

#define INPUT(TYPE, k) ((TYPE)(mix(k) & mix((k) + 77777)))
//@each shmem_TYPENAME_and_reduce
static TYPE and_dest_TYPENAME[N], and_source_TYPENAME[N];

static void and_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == and_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_and_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected & next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME and team %s, %zu elements, in place %d: element %zu",
                       team->name, n, in_place, k);
            }
            sync_team(team);
        }
    }
}
//@end

//@each shmem_TYPENAME_or_reduce
static TYPE or_dest_TYPENAME[N], or_source_TYPENAME[N];

static void or_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == or_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_or_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected | next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME or team %s, %zu elements, in place %d: element %zu",
                       team->name, n, in_place, k);
            }
            sync_team(team);
        }
    }
}
//@end

//@each shmem_TYPENAME_xor_reduce
static TYPE xor_dest_TYPENAME[N], xor_source_TYPENAME[N];

static void xor_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == xor_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_xor_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected ^ next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME xor team %s, %zu elements, in place %d: element %zu",
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
//@each shmem_TYPENAME_and_reduce
        if (npes < 16) and_TYPENAME(team, and_dest_TYPENAME, and_source_TYPENAME);
        and_TYPENAME(team, dest, source);
//@end
//@each shmem_TYPENAME_or_reduce
        if (npes < 16) or_TYPENAME(team, or_dest_TYPENAME, or_source_TYPENAME);
        or_TYPENAME(team, dest, source);
//@end
//@each shmem_TYPENAME_xor_reduce
        if (npes < 16) xor_TYPENAME(team, xor_dest_TYPENAME, xor_source_TYPENAME);
        xor_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

/* 9.10.9: sum and prod reductions, complex and long double included, of every type that has it, on every team, with
 * zero, one, odd and many elements, in place and not, on heap and static buffers; elements beyond stay.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_sum_reduce
 */
#include <complex.h>

#include "teams.h"

enum { N = 9005 };

static const size_t counts[] = {0, 1, 3, 64, 521, 9001};

/* Small values, so that no order of the operations overflows or rounds; the imaginary part is dropped by real types. */
#define INPUT(TYPE, k) ((TYPE)((double)(mix(k) % 3) + (double)(mix((k) + 77777) % 2) * _Complex_I))
//@each shmem_TYPENAME_sum_reduce
static TYPE sum_dest_TYPENAME[N], sum_source_TYPENAME[N];

static void sum_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == sum_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_sum_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected + next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME sum team %s, %zu elements, in place %d: element %zu",
                       team->name, n, in_place, k);
            }
            sync_team(team);
        }
    }
}
//@end

//@each shmem_TYPENAME_prod_reduce
static TYPE prod_dest_TYPENAME[N], prod_source_TYPENAME[N];

static void prod_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            size_t n = counts[i];
            /* The largest once for each type. */
            if (n > 1000 && (team != teams || dest == prod_dest_TYPENAME || npes > 7)) continue;
            size_t last = n < 1000 ? 600 : N;
            TYPE *target = in_place ? source : dest;
            for (size_t k = 0; k < last; k++) {
                dest[k] = (TYPE)1;
                source[k] = INPUT(TYPE, k + 1000 * (size_t)me);
            }
            sync_team(team);
            CHECK_EQ(shmem_TYPENAME_prod_reduce(team->handle, target, source, n), 0);
            for (size_t k = 0; k < last; k++) {
                TYPE expected = INPUT(TYPE, k + 1000 * (size_t)team->world[0]);
                for (int pe = 1; pe < team->size; pe++) {
                    TYPE next = INPUT(TYPE, k + 1000 * (size_t)team->world[pe]);
                    expected = (TYPE)(expected * next);
                }
                if (k >= n) expected = in_place ? INPUT(TYPE, k + 1000 * (size_t)me) : (TYPE)1;
                CHECKF(target[k] == expected, "TYPENAME prod team %s, %zu elements, in place %d: element %zu",
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
//@each shmem_TYPENAME_sum_reduce
        if (npes < 16) sum_TYPENAME(team, sum_dest_TYPENAME, sum_source_TYPENAME);
        sum_TYPENAME(team, dest, source);
//@end
//@each shmem_TYPENAME_prod_reduce
        if (npes < 16) prod_TYPENAME(team, prod_dest_TYPENAME, prod_source_TYPENAME);
        prod_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

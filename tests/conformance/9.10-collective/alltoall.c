/* 9.10.5, 9.10.6: alltoall and alltoalls of every type and mem on every team; blocks by team number, strides in
 * elements on both sides, what lies between the strides stays.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_alltoall shmem_long_alltoalls
 */
#include "teams.h"

enum { MOST = 9, STRIDE = 3, N = MOST * STRIDE * 16 + 8 };

static const struct { size_t n; ptrdiff_t dst, sst; } shapes[] = {{0, 1, 1}, {1, 1, 1}, {9, 1, 1}, {1, 3, 2}, {4, 1, 3},
                                                                  {7, 2, 1}};

//@each shmem_{alltoall} shmem_{alltoalls}
static TYPE dest_TYPENAME[N], source_TYPENAME[N];

static TYPE sent_TYPENAME(int from, int to, size_t k) { return VALUE(TYPE,
                                                                     (size_t)from * 10007 + (size_t)to * 101 + k); }

static void run_TYPENAME(const team_t *team, TYPE *dest, TYPE *source) {
    size_t size = (size_t)team->size;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t n = shapes[i].n;
        ptrdiff_t dst = shapes[i].dst, sst = shapes[i].sst;
        for (size_t k = 0; k < N; k++) dest[k] = source[k] = (TYPE)1;
        for (size_t to = 0; to < size; to++)
            for (size_t k = 0; k < n; k++) source[(to * n + k) * (size_t)sst] = sent_TYPENAME(me, team->world[to], k);
        sync_team(team);
        bool strided = dst != 1 || sst != 1 || i == 2;
        if (strided) CHECK_EQ(shmem_{alltoalls}(team->handle, dest, source, dst, sst, n), 0);
        else CHECK_EQ(shmem_{alltoall}(team->handle, dest, source, n), 0);
        if (i == 2) {
            sync_team(team);
            CHECK_EQ(shmem_{alltoall}(team->handle, dest, source, n), 0);
        }
        for (size_t k = 0; k < N; k++) {
            size_t number = k / (size_t)dst;
            bool inside = k % (size_t)dst == 0 && number < n * size;
            TYPE expected = inside ? sent_TYPENAME(team->world[number / n], me, number % n) : (TYPE)1;
            CHECKF(dest[k] == expected, "TYPENAME team %s, %zu elements, strides %td %td: element %zu", team->name, n,
                   dst, sst, k);
        }
        sync_team(team);
    }
}
//@end

int main(void) {
    begin();
    open_teams();
    void *dest = symmetric(N * 16), *source = symmetric(N * 16);
    FOR_EACH_TEAM(team) {
//@each shmem_{alltoall} shmem_{alltoalls}
        if (npes < 16) run_TYPENAME(team, dest_TYPENAME, source_TYPENAME);
        run_TYPENAME(team, dest, source);
//@end
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

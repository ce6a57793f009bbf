/* 9.10, 9.4 against a sequential model: random collectives of random sizes on random teams that are made and destroyed
 * meanwhile; each PE computes what the others contribute.
 * pes: 1 2 3 4 7 16
 * environment: SHMEM_SYMMETRIC_SIZE=64m
 * limit: 100
 * needs: shmem_team_split_strided shmem_team_destroy shmem_long_collect shmem_long_alltoall shmem_long_sum_exscan
 * needs: shmem_malloc
 */
#include "teams.h"

enum { MOST = 700, KINDS = 9 };

static long *source, *dest;

/* What PE `pe` of the world contributes as element `k` in step `step`. */
static long given(int step, int pe,
                  size_t k) { return (long)(mix((uint64_t)step * 1000003 + (uint64_t)pe * 8191 + k) % 1000); }

static void expect(long found, long expected, int step, int kind, const team_t *team, size_t n, size_t k) {
    CHECKF(found == expected, "step %d, kind %d, team of %d, %zu elements: element %zu is %ld, not %ld", step, kind,
           team->size,
           n, k, found, expected);
}

static void collective(const team_t *team, int step, int kind, size_t n, int root) {
    size_t size = (size_t)team->size, number = (size_t)team->number;
    size_t per = kind == 5 ? n * size : kind == 4 ? MOST : n;
    for (size_t k = 0; k < per; k++) source[k] = given(step, me, k);
    for (size_t k = 0; k < MOST * size; k++) dest[k] = -1;
    sync_team(team);
    size_t written = n;
    switch (kind) {
    case 0: CHECK_EQ(shmem_long_broadcast(team->handle, dest, source, n, root), 0); break;
    case 1: CHECK_EQ(shmem_long_sum_reduce(team->handle, dest, source, n), 0); break;
    case 2: CHECK_EQ(shmem_long_min_reduce(team->handle, dest, source, n), 0); break;
    case 3: CHECK_EQ(shmem_long_fcollect(team->handle, dest, source, n), 0); written = n * size; break;
    case 4: CHECK_EQ(shmem_long_collect(team->handle, dest, source, (n * (number + 1)) % MOST), 0); break;
    case 5: CHECK_EQ(shmem_long_alltoall(team->handle, dest, source, n), 0); written = n * size; break;
    case 6: CHECK_EQ(shmem_long_sum_inscan(team->handle, dest, source, n), 0); break;
    case 7: CHECK_EQ(shmem_long_sum_exscan(team->handle, dest, source, n), 0); break;
    default: CHECK_EQ(shmem_long_sum_reduce(team->handle, source, source, n), 0); break;
    }
    if (kind == 4) {
        size_t at = 0;
        for (size_t pe = 0; pe < size; pe++)
            for (size_t k = 0; k < (n * (pe + 1)) % MOST; k++, at++) expect(dest[at], given(step, team->world[pe], k),
                step, kind, team, n, at);
        written = at;
    } else {
        for (size_t k = 0; k < written; k++) {
            long value = 0;
            switch (kind) {
            case 0: value = given(step, team->world[root], k); break;
            case 2:
                value = 1000;
                for (size_t pe = 0; pe < size; pe++) if (given(step, team->world[pe], k) < value) value = given(step,
                    team->world[pe], k);
                break;
            case 3: value = given(step, team->world[k / n], k % n); break;
            case 5: value = given(step, team->world[k / n], number * n + k % n); break;
            default: {
                size_t last = kind == 6 ? number + 1 : kind == 7 ? number : size;
                for (size_t pe = 0; pe < last; pe++) value += given(step, team->world[pe], k);
            }
            }
            expect(kind == 8 ? source[k] : dest[k], value, step, kind, team, n, k);
        }
        if (kind == 8) written = 0;
    }
    if (written < MOST * size) expect(dest[written], -1, step, kind, team, n, written);
    sync_team(team);
}

int main(void) {
    begin();
    source = symmetric(MOST * sizeof(long) * (size_t)npes);
    dest = symmetric(MOST * sizeof(long) * (size_t)npes);
    uint64_t state = 2026;
    int steps = npes > 4 ? 150 : 600;
    for (int step = 0; step < steps; step++) {
        /* The same draws on every PE: the choice of team, collective, size and root. */
        int start = (int)(draw(&state) % (uint64_t)npes), room = npes - start;
        int stride = 1 + (int)(draw(&state) % 3),
            size = 1 + (int)(draw(&state) % (uint64_t)((room + stride - 1) / stride));
        bool backwards = draw(&state) % 2;
        if (backwards) { start += stride * (size - 1); stride = -stride; }
        nteams = 0;
        shmem_team_t handle;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &handle), 0);
        describe_team("random", handle, start, stride, size);
        const team_t *team = &teams[0];
        int calls = 1 + (int)(draw(&state) % 4);
        for (int call = 0; call < calls; call++) {
            int kind = (int)(draw(&state) % KINDS), root = (int)(draw(&state) % (uint64_t)size);
            size_t n = draw(&state) % 4 == 0 ? 0 : 1 + draw(&state) % (draw(&state) % 2 ? 8 : MOST - 1);
            if (team->number >= 0) collective(team, step * 8 + call, kind, n, root);
        }
        if (team->number >= 0) shmem_team_destroy(handle);
    }
    shmem_barrier_all();
    return end();
}

/* Explicit active sets: the four ways to make one, what is no set, queries, and every blocking collective on sets of
 * any PEs in any order against what it must give, with a work array and without one. Members of several sets make their
 * calls one after the other; PEs that are in none go on.
 * pes: 1 2 4 13 16
 * limit: 200
 */
#include "check.h"

#include <shmemx.h>

/* More of them in a soak. */
#ifndef SETS
#define SETS 40
#endif
enum { N = 24 };

static long work[2][SHMEM_SYNC_SIZE];
static long target[N * 16], source[N * 16];
static int narrow_target[N * 16], narrow_source[N * 16];
static int turn;

static int square(int index, int first, int size, void *params) { return index * index + first + *(int *)params; }

static int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

static void is(shmemx_aset *set, const int *list, int size) {
    CHECK(set != NULL);
    CHECK_EQ(shmemx_aset_size(set), size);
    int index = -1;
    for (int i = 0; i < size; i++) {
        CHECK_EQ(shmemx_aset_pe(set, i), list[i]);
        CHECK_EQ(shmemx_aset_index(set, list[i]), i);
        if (list[i] == me) index = i;
    }
    CHECK_EQ(shmemx_aset_pe(set, -1), -1);
    CHECK_EQ(shmemx_aset_pe(set, size), -1);
    CHECK_EQ(shmemx_aset_index(set, npes), -1);
    CHECK_EQ(shmemx_in_aset(set) != 0, index >= 0);
    CHECK_EQ(shmemx_aset_index(set, me), index);
}

/* Every strided set of the job, made in each way that can make it. */
static void creation(void) {
    for (int start = 0; start < npes; start++)
    for (int stride = -3; stride <= 4; stride++)
    for (int size = 1; size <= npes; size++) {
        int list[64], last = start + stride * (size - 1), zero = 0;
        for (int i = 0; i < size; i++) list[i] = start + stride * i;
        shmemx_aset *strided = shmemx_create_strided_aset(start, stride, size);
        shmemx_aset *listed = shmemx_create_generic_aset(list, size);
        bool valid = last >= 0 && last < npes && (stride != 0 || size == 1);
        CHECK_EQ(strided != NULL, valid);
        CHECK_EQ(listed != NULL, valid);
        if (!valid) continue;
        is(strided, list, size);
        is(listed, list, size);
        for (int log = 0; log < 3; log++) for (int base = 1; base < 4; base++) {
            if (power(base, log) != stride) continue;
            shmemx_aset *raised = shmemx_create_log_strided_aset(start, log, size, base);
            is(raised, list, size);
            shmemx_delete_aset(raised);
        }
        shmemx_delete_aset(strided);
        shmemx_delete_aset(listed);
        (void)zero;
    }
    int twice[] = {0, 0}, beyond[] = {0, npes}, below[] = {-1}, zero = 0, offset = 3;
    CHECK(shmemx_create_generic_aset(twice, 2) == NULL);
    CHECK(shmemx_create_generic_aset(beyond, 2) == NULL);
    CHECK(shmemx_create_generic_aset(below, 1) == NULL);
    CHECK(shmemx_create_generic_aset(twice, 0) == NULL);
    CHECK(shmemx_create_generic_aset(twice, -1) == NULL);
    CHECK(shmemx_create_strided_aset(0, 1, npes + 1) == NULL);
    CHECK(shmemx_create_log_strided_aset(0, -1, 1, 2) == NULL);
    CHECK(shmemx_create_log_strided_aset(0, 40, 2, 2) == NULL);
    CHECK(shmemx_create_log_strided_aset(0, 1, 1, 0) == NULL);
    shmemx_delete_aset(NULL);
    if (npes > 12) {
        int squares[] = {3, 4, 7, 12};
        is(shmemx_create_custom_aset(3, square, 4, &zero), squares, 4);
        CHECK(shmemx_create_custom_aset(3, square, 4, &offset) == NULL || npes > 15);
    }
}

/* `size` PEs in an order that all PEs draw alike. */
static int members(uint64_t *state, int *list) {
    for (int i = 0; i < npes; i++) list[i] = i;
    for (int i = npes - 1; i > 0; i--) {
        int other = (int)(draw(state) % (uint64_t)(i + 1)), pe = list[i];
        list[i] = list[other];
        list[other] = pe;
    }
    return 1 + (int)(draw(state) % (uint64_t)npes);
}

static long give(int call, int pe, int k) { return call * 100003L + pe * 1009L + k; }

static void prepare(int call, int n) {
    for (int k = 0; k < N * 16; k++) target[k] = narrow_target[k] = -1;
    for (int k = 0; k < n; k++) narrow_source[k] = (int)(source[k] = give(call, me, k));
}

static long *sync_of(bool with, shmemx_aset *set) {
    if (!with) return NULL;
    turn++;
    return work[turn % 2];
}

static void collectives(int call, shmemx_aset *set, const int *list, int size, int mine, bool with, uint64_t drawn) {
    int n = 1 + (int)(drawn % N), root = (int)(drawn / 64 % (uint64_t)size);
    turn = 0;
    prepare(call, N * 16);
    shmemx_barrier_aset(set, sync_of(with, set));
    shmemx_broadcast64_aset(target, source, (size_t)n, root, set, sync_of(with, set));
    for (int k = 0; k < n; k++) CHECK_EQ(target[k], mine == root ? -1 : give(call, list[root], k));
    shmemx_sync_aset(set, sync_of(with, set));
    shmemx_fcollect64_aset(target, source, (size_t)n, set, sync_of(with, set));
    for (int k = 0; k < n * size; k++) CHECK_EQ(target[k], give(call, list[k / n], k % n));
    shmemx_sync_aset(set, sync_of(with, set));
    shmemx_collect32_aset(narrow_target, narrow_source, (size_t)(mine % 3 * 5), set, sync_of(with, set));
    for (int i = 0, at = 0; i < size; i++) for (int k = 0; k < i % 3 * 5; k++, at++)
        CHECK_EQ(narrow_target[at], (int)give(call, list[i], k));
    shmemx_sync_aset(set, sync_of(with, set));
    shmemx_alltoall64_aset(target, source, (size_t)n, set, sync_of(with, set));
    for (int k = 0; k < n * size; k++) CHECK_EQ(target[k], give(call, list[k / n], mine * n + k % n));
    shmemx_sync_aset(set, sync_of(with, set));
    long sum[N];
    for (int k = 0; k < n; k++) for (sum[k] = 0, root = 0; root < size; root++) sum[k] += give(call, list[root], k);
    shmemx_long_sum_to_all_aset(target, source, n, set, NULL, sync_of(with, set));
    for (int k = 0; k < n; k++) CHECK_EQ(target[k], sum[k]);
    shmemx_sync_aset(set, sync_of(with, set));
    shmemx_int_max_to_all_aset(narrow_target, narrow_source, n, set, NULL, sync_of(with, set));
    int most = 0;
    for (int i = 0; i < size; i++) most = list[i] > most ? list[i] : most;
    for (int k = 0; k < n; k++) CHECK_EQ(narrow_target[k], (int)give(call, most, k));
    shmemx_sync_aset(set, sync_of(with, set));
}

static void random_sets(void) {
    uint64_t state = 11;
    for (int call = 0; call < SETS; call++) {
        int list[64], size = members(&state, list), mine = -1;
        uint64_t drawn = draw(&state);
        for (int i = 0; i < size; i++) if (list[i] == me) mine = i;
        if (mine < 0) continue;
        shmemx_aset *set = shmemx_create_generic_aset(list, size);
        is(set, list, size);
        /* Work arrays are free again only where all sets before have been left. */
        collectives(call, set, list, size, mine, false, drawn);
        shmemx_delete_aset(set);
    }
    shmem_barrier_all();
    for (int call = SETS; call < 2 * SETS; call++) {
        int list[64], size = members(&state, list), mine = -1;
        uint64_t drawn = draw(&state);
        for (int i = 0; i < size; i++) if (list[i] == me) mine = i;
        if (mine >= 0) {
            shmemx_aset *set = shmemx_create_generic_aset(list, size);
            collectives(call, set, list, size, mine, true, drawn);
            shmemx_delete_aset(set);
        }
        shmem_barrier_all();
    }
    for (int w = 0; w < 2; w++) for (int k = 0; k < SHMEM_SYNC_SIZE; k++) CHECK_EQ(work[w][k], SHMEM_SYNC_VALUE);
}

/* Teams of sets: strided ones, in their order. */
static void teams(void) {
    shmemx_aset *backwards = shmemx_create_strided_aset(npes - 1, -1, npes);
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmemx_team_split_aset(SHMEM_TEAM_WORLD, backwards, NULL, 0, &team), 0);
    CHECK_EQ(shmem_team_my_pe(team), npes - 1 - me);
    CHECK_EQ(shmem_team_n_pes(team), npes);
    shmem_team_sync(team);
    shmemx_aset *first = shmemx_create_strided_aset(0, 2, (npes + 1) / 2);
    shmem_team_t part = SHMEM_TEAM_WORLD;
    CHECK_EQ(shmemx_team_split_aset(team, first, NULL, 0, &part), 0);
    CHECK_EQ(part != SHMEM_TEAM_INVALID, me % 2 == 0);
    if (part != SHMEM_TEAM_INVALID) {
        CHECK_EQ(shmem_team_my_pe(part), me / 2);
        shmem_team_destroy(part);
    }
    shmem_team_destroy(team);
    if (npes >= 3) {
        int list[] = {0, 2, 1};
        shmemx_aset *mixed = shmemx_create_generic_aset(list, 3);
        CHECK(shmemx_team_split_aset(SHMEM_TEAM_WORLD, mixed, NULL, 0, &part) != 0);
        CHECK(part == SHMEM_TEAM_INVALID);
    }
}

int main(void) {
    begin();
    for (int w = 0; w < 2; w++) for (int k = 0; k < SHMEM_SYNC_SIZE; k++) work[w][k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    creation();
    random_sets();
    teams();
    return end();
}

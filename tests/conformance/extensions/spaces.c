/* Spaces: symmetric memory of some PEs alone. Every kind of operation on it, by its members; configurations; many of
 * them at a time, of all sizes, against what must be in them; where PEs are.
 * pes: 1 2 4 8 13
 * limit: 200
 */
#include "check.h"

#include <shmemx.h>

/* Spaces of more than 4 PEs at a time; more in a soak. */
#ifndef MOST_OF_MANY
#define MOST_OF_MANY 200
#endif
#include <string.h>

static long pSync[SHMEM_REDUCE_SYNC_SIZE];

static shmemx_space_t space_of(shmem_team_t team, size_t bytes, const char *name) {
    shmemx_space_config_t config = {.size = bytes, .name = name};
    shmemx_space_t space = SHMEMX_SPACE_DEFAULT;
    CHECK_EQ(shmemx_space_create(team, &config, SHMEMX_SPACE_SIZE | SHMEMX_SPACE_NAME, &space), 0);
    CHECK(space != SHMEMX_SPACE_INVALID && space != SHMEMX_SPACE_DEFAULT);
    return space;
}

static int contains(const void *addr, shmemx_space_t wanted) {
    shmemx_space_t found;
    int result = shmemx_space_of(addr, &found);
    return (result == 0) == (wanted != SHMEMX_SPACE_INVALID) && found == wanted;
}

/* All that members do with memory of a space. */
static void operations(shmem_team_t team, shmemx_space_t space) {
    int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    int next = shmem_team_translate_pe(team, (mine + 1) % size, SHMEM_TEAM_WORLD), before = (mine + size - 1) % size;
    long *a = shmemx_space_calloc(space, 1000, sizeof *a), *b = shmemx_space_malloc(space, 8000);
    CHECK(a && b && contains(a, space) && contains(b + 999, space));
    for (int k = 0; k < 1000; k++) CHECK_EQ(a[k], 0);
    for (int k = 0; k < 1000; k++) b[k] = 1000 * mine + k;
    shmem_team_sync(team);
    shmem_long_p(a, 7 + mine, next);
    shmem_long_put(a + 1, b + 1, 500, next);
    shmem_long_put_nbi(a + 501, b + 501, 99, next);
    shmem_long_iput(a + 600, b + 600, 2, 1, 100, next);
    shmem_quiet();
    shmem_team_sync(team);
    CHECK_EQ(a[0], 7 + before);
    for (int k = 1; k < 600; k++) CHECK_EQ(a[k], 1000 * before + k);
    for (int k = 0; k < 100; k++) CHECK_EQ(a[600 + 2 * k], 1000 * before + 600 + k);
    CHECK_EQ(shmem_long_g(b + 5, next), 1000 * ((mine + 1) % size) + 5);
    long got[100] = {0};
    shmem_long_get(got, b + 17, 100, next);
    CHECK_EQ(got[99], 1000 * ((mine + 1) % size) + 116);
    shmem_long_iget(got, b, 1, 3, 33, next);
    CHECK_EQ(got[32], 1000 * ((mine + 1) % size) + 96);
    shmem_team_sync(team);
    /* Atomics, all on the first member's; waits; signals, with data in the heap and in the space. */
    int first = shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD);
    a[900] = a[901] = a[902] = a[903] = 0;
    shmem_team_sync(team);
    shmem_long_atomic_inc(a + 900, first);
    CHECK(shmem_long_atomic_fetch_add(a + 901, 2, first) % 2 == 0);
    shmem_team_sync(team);
    CHECK_EQ(shmem_long_atomic_fetch(a + 900, first), size);
    CHECK_EQ(shmem_long_atomic_compare_swap(a + 901, -1, 0, first), 2 * size);
    shmemx_request_handle_t request;
    long old = -1;
    shmemx_long_fadd_nb(a + 902, 0, first, &old, &request);
    shmemx_wait_req(request);
    CHECK_EQ(old, 0);
    static long object[4];
    uint64_t *signal = (uint64_t *)(a + 903);
    b[3] = mine;
    object[1] = mine;
    shmem_long_put_signal(a + 910, b + 3, 1, signal, 1, SHMEM_SIGNAL_ADD, next);
    shmem_signal_wait_until(signal, SHMEM_CMP_GE, 1);
    CHECK_EQ(a[910], before);
    shmem_long_put_signal(object + 2, object + 1, 1, signal, 1, SHMEM_SIGNAL_ADD, next);
    shmem_long_wait_until(a + 903, SHMEM_CMP_EQ, 2);
    CHECK_EQ(object[2], before);
    CHECK_EQ(shmem_signal_fetch(signal), 2);
    shmem_team_sync(team);
    /* Collectives. */
    for (int k = 0; k < 8; k++) b[k] = mine + k;
    CHECK_EQ(shmem_long_sum_reduce(team, a, b, 8), 0);
    for (int k = 0; k < 8; k++) CHECK_EQ(a[k], (long)size * (size - 1) / 2 + (long)size * k);
    CHECK_EQ(shmem_long_fcollect(team, a, b, 3), 0);
    for (int k = 0; k < 3 * size; k++) CHECK_EQ(a[k], k / 3 + k % 3);
    CHECK_EQ(shmem_long_broadcast(team, a, b, 8, size - 1), 0);
    CHECK_EQ(a[7], size - 1 + 7);
    for (int k = 0; k < size; k++) b[k] = 100 * mine + k;
    CHECK_EQ(shmem_long_alltoall(team, a, b, 1), 0);
    for (int k = 0; k < size; k++) CHECK_EQ(a[k], 100 * k + mine);
    CHECK_EQ(shmemx_long_max_reduce_nb(team, a + 50, b, 1, &request), 0);
    CHECK_EQ(shmemx_req_wait(&request), 0);
    CHECK_EQ(a[50], 100 * (size - 1));
    /* Loads and stores, where a member shares memory. */
    long *theirs = shmem_ptr(b, next);
    if (theirs) CHECK_EQ(theirs[1 % size], 100 * ((mine + 1) % size) + 1 % size);
    CHECK(shmem_addr_accessible(b, next));
    /* Sizes and alignments. */
    long *c = shmemx_space_align(space, 4096, 100);
    CHECK(c && (uintptr_t)c % 4096 == 0);
    c[11] = 11;
    c = shmemx_space_realloc(space, c, 9000);
    CHECK(c && (uintptr_t)c % 4096 == 0 && c[11] == 11);
    CHECK(shmemx_space_malloc(space, (size_t)1 << 40) == NULL);
    CHECK(shmemx_space_malloc(space, 0) == NULL);
    shmemx_space_free(space, NULL);
    CHECK(shmemx_space_realloc(space, c, 0) == NULL);
    shmemx_space_free(space, b);
    shmemx_space_free(space, a);
}

static void of_teams(void) {
    shmemx_space_t all = space_of(SHMEM_TEAM_WORLD, 1 << 20, "all");
    operations(SHMEM_TEAM_WORLD, all);
    shmem_team_t odd = SHMEM_TEAM_INVALID, back = SHMEM_TEAM_INVALID;
    if (npes > 2) shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back);
    if (odd != SHMEM_TEAM_INVALID) {
        shmemx_space_t some = space_of(odd, 300000, "odd");
        operations(odd, some);
        CHECK_EQ(shmemx_space_destroy(some), 0);
    }
    /* Those of others have been made meanwhile, or not. */
    shmemx_space_t reversed = space_of(back, 200000, "back");
    operations(back, reversed);
    operations(SHMEM_TEAM_WORLD, all);
    CHECK_EQ(shmemx_space_destroy(reversed), 0);
    operations(SHMEM_TEAM_WORLD, all);
    CHECK_EQ(shmemx_space_destroy(all), 0);
    shmemx_space_t none = SHMEMX_SPACE_DEFAULT;
    CHECK(shmemx_space_create(SHMEM_TEAM_INVALID, NULL, 0, &none) < 0 && none == SHMEMX_SPACE_INVALID);
}

static void of_sets(void) {
    int list[64], size = 0;
    for (int pe = npes - 1; pe >= 0; pe -= 2) list[size++] = pe;
    shmemx_aset *set = shmemx_create_generic_aset(list, size);
    if (shmemx_in_aset(set)) {
        shmemx_space_config_t config = {.size = 100000, .name = "set"};
        shmemx_space_t space;
        CHECK_EQ(shmemx_space_create_aset(set, &config, SHMEMX_SPACE_SIZE, &space), 0);
        long *a = shmemx_space_calloc(space, 8, 8);
        a[1] = me;
        shmemx_long_sum_to_all_aset(a, a + 1, 1, set, NULL, pSync);
        long sum = 0;
        for (int k = 0; k < size; k++) sum += list[k];
        CHECK_EQ(a[0], sum);
        for (int k = 0; k < SHMEM_REDUCE_SYNC_SIZE; k++) CHECK_EQ(pSync[k], SHMEM_SYNC_VALUE);
        CHECK_EQ(shmemx_space_destroy(space), 0);
    }
    shmemx_delete_aset(set);
    shmem_barrier_all();
}

/* Many at a time, of all sizes, ended in another order; what one holds the others do not touch. */
static void many(void) {
    enum { MANY = 1000 };
    static shmemx_space_t spaces[MANY];
    static long *objects[MANY];
    int count = npes > 4 ? MOST_OF_MANY : MANY;
    for (int k = 0; k < count; k++) {
        size_t bytes = 64 + (size_t)k * 977 % 100000;
        spaces[k] = space_of(SHMEM_TEAM_WORLD, bytes, NULL);
        objects[k] = shmemx_space_malloc(spaces[k], bytes);
        CHECK(objects[k] && shmemx_space_malloc(spaces[k], 64) == NULL);
        objects[k][0] = -1;
    }
    shmem_barrier_all();
    for (int k = 0; k < count; k++) shmem_long_p(objects[k], 1000L * me + k, (me + 1) % npes);
    shmem_barrier_all();
    for (int k = 0; k < count; k++) {
        CHECK_EQ(objects[k][0], 1000L * ((me + npes - 1) % npes) + k);
        CHECK(contains(objects[k], spaces[k]));
    }
    for (int k = 0; k < count; k++) {
        int which = (int)((long)k * 389 % count);
        CHECK_EQ(shmemx_space_destroy(spaces[which]), 0);
        spaces[which] = SHMEMX_SPACE_INVALID;
        if (k % 50 == 0)
            for (int other = 0; other < count; other++)
                CHECK(spaces[other] == SHMEMX_SPACE_INVALID || contains(objects[other], spaces[other]));
    }
    for (int k = 0; k < count; k++) CHECK(contains(objects[k], SHMEMX_SPACE_INVALID));
}

static void configurations(void) {
    shmemx_space_t space;
    CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, NULL, 0, &space), 0);
    CHECK_EQ(shmemx_space_destroy(space), 0);
    shmemx_space_config_t config = {.size = 1 << 16, .numa_node = SHMEMX_NUMA_LOCAL, .kind = SHMEMX_SPACE_HOST};
    long mask = SHMEMX_SPACE_SIZE | SHMEMX_SPACE_NUMA_NODE | SHMEMX_SPACE_KIND;
    CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, &config, mask, &space), 0);
    memset(shmemx_space_malloc(space, 1 << 15), 1, 1 << 15);
    CHECK_EQ(shmemx_space_destroy(space), 0);
    /* What cannot be had is told, on all PEs, and nothing is left behind. */
    config.numa_node = 0;
    CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, &config, mask, &space), 0);
    CHECK_EQ(shmemx_space_destroy(space), 0);
    config.numa_node = me == npes - 1 ? 1000 : SHMEMX_NUMA_ANY;
    config.name = "far";
    shmemx_error_t error = {.size = sizeof error};
    CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, &config, mask | SHMEMX_SPACE_NAME, &space), SHMEMX_ERROR_MEMORY);
    CHECK(space == SHMEMX_SPACE_INVALID);
    CHECK_EQ(shmemx_error_last(&error), SHMEMX_ERROR_MEMORY);
    CHECKF(strstr(error.message, "\"far\"") && strstr(error.message, "numa_node"), "%s", error.message);
    config.page_size = 4 << 20;
    mask = SHMEMX_SPACE_SIZE | SHMEMX_SPACE_PAGE_SIZE;
    CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, &config, mask, &space), SHMEMX_ERROR_MEMORY);
    CHECK_EQ(shmemx_error_last(&error), SHMEMX_ERROR_MEMORY);
    CHECKF(strstr(error.message, "no pages of page_size bytes"), "%s", error.message);
    config.page_size = 2 << 20;
    int huge = shmemx_space_create(SHMEM_TEAM_WORLD, &config, mask, &space);
    if (huge == 0) {
        operations(SHMEM_TEAM_WORLD, space);
        CHECK_EQ(shmemx_space_destroy(space), 0);
    } else {
        CHECK_EQ(shmemx_error_last(&error), SHMEMX_ERROR_MEMORY);
        CHECKF(strstr(error.message, "pages of page_size bytes"), "%s", error.message);
    }
    shmemx_error_clear();
}

static void the_heap(void) {
    static long object;
    long *a = shmemx_space_malloc(SHMEMX_SPACE_DEFAULT, 64), *b = shmemx_space_calloc(SHMEMX_SPACE_DEFAULT, 8, 8);
    CHECK(contains(a, SHMEMX_SPACE_DEFAULT) && contains(b, SHMEMX_SPACE_DEFAULT));
    CHECK(contains(&object, SHMEMX_SPACE_INVALID) && contains(NULL, SHMEMX_SPACE_INVALID));
    a = shmemx_space_realloc(SHMEMX_SPACE_DEFAULT, a, 640);
    shmem_free(b);
    b = shmemx_space_align(SHMEMX_SPACE_DEFAULT, 256, 8);
    CHECK(a && (uintptr_t)b % 256 == 0);
    shmemx_space_free(SHMEMX_SPACE_DEFAULT, b);
    shmemx_space_free(SHMEMX_SPACE_DEFAULT, a);
}

static void places(void) {
    for (int pe = 0; pe < npes; pe++) {
        int how = shmemx_locality(pe);
        CHECKF(how >= 0 && how <= 3 && (how == 0) == (pe == me), "PE %d: %d", pe, how);
        CHECK(shmem_ptr(pSync, pe) == NULL || how < 3);
    }
    int size = shmem_team_n_pes(SHMEMX_TEAM_NUMA), mine = shmem_team_my_pe(SHMEMX_TEAM_NUMA);
    CHECK(size >= 1 && mine >= 0 && shmem_team_translate_pe(SHMEMX_TEAM_NUMA, mine, SHMEM_TEAM_WORLD) == me);
    for (int pe = 0; pe < size; pe++)
        CHECK(shmemx_locality(shmem_team_translate_pe(SHMEMX_TEAM_NUMA, pe, SHMEM_TEAM_WORLD)) <= 1);
    shmemx_space_t space = space_of(SHMEMX_TEAM_NUMA, 1 << 17, "node");
    operations(SHMEMX_TEAM_NUMA, space);
    CHECK_EQ(shmemx_space_destroy(space), 0);
    CHECK_EQ(shmem_team_sync(SHMEMX_TEAM_NUMA), 0);
    shmem_barrier_all();
}

/* PE 0 has no room for one more: nobody gets one, and all are told why; with room again, all get one. */
static void too_many(void) {
    static shmemx_space_t spaces[4096];
    shmem_team_t alone = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &alone), 0);
    for (int k = 0; me == 0 && k < 4096; k++) spaces[k] = space_of(alone, 4096, "small");
    shmemx_error_t error = {.size = sizeof error};
    for (int k = 0; k < 2; k++) {
        shmemx_space_t space = SHMEMX_SPACE_DEFAULT;
        CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, NULL, 0, &space), SHMEMX_ERROR_MEMORY);
        CHECK(space == SHMEMX_SPACE_INVALID);
        CHECK_EQ(shmemx_error_last(&error), SHMEMX_ERROR_MEMORY);
        CHECKF(strstr(error.message, me == 0 ? "made: a PE can be" : "made: PE 0: a PE can be"), "%s", error.message);
        shmemx_error_clear();
    }
    if (me == 0) CHECK_EQ(shmemx_space_destroy(spaces[4000]), 0);
    shmemx_space_t space = space_of(SHMEM_TEAM_WORLD, 1 << 16, "the last");
    CHECK(shmemx_space_malloc(space, 64) != NULL);
    CHECK_EQ(shmemx_space_destroy(space), 0);
    for (int k = 0; me == 0 && k < 4096; k++)
        if (k != 4000) CHECK_EQ(shmemx_space_destroy(spaces[k]), 0);
    if (me == 0) shmem_team_destroy(alone);
    shmem_barrier_all();
}

int main(void) {
    begin();
    of_teams();
    of_sets();
    configurations();
    the_heap();
    places();
    many();
    too_many();
    /* One that is left behind ends with its life. */
    shmemx_space_t left = space_of(SHMEM_TEAM_WORLD, 1 << 16, "left");
    long *object = shmemx_space_malloc(left, 64);
    shmem_barrier_all();
    shmem_finalize();
    shmem_init();
    CHECK(contains(object, SHMEMX_SPACE_INVALID));
    of_teams();
    return end();
}

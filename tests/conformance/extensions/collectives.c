/* Nonblocking collectives on teams and sets: each against what it must give, many outstanding at a time on overlapping
 * groups that are begun and waited for in different orders, blocking ones in between, both conventions of results, and
 * calls without a handle.
 * pes: 1 2 4 13 16
 * limit: 200
 */
#include "check.h"

#include <shmemx.h>

/* More of them in a soak. */
#ifndef ROUNDS
#define ROUNDS 2
#endif
enum { N = 700, AT_A_TIME = 64 };

static long target[N * 16], source[N * 16], more[AT_A_TIME][16], given[AT_A_TIME];
static long work[AT_A_TIME][SHMEM_SYNC_SIZE];

static long give(int call, int pe, long k) { return call * 1000003L + pe * 10007L + k; }

static void fill(int call, long n) {
    for (long k = 0; k < N * 16; k++) target[k] = -1;
    for (long k = 0; k < n; k++) source[k] = give(call, me, k);
}

/* Waits in one of several ways. */
static void finish(int way, shmemx_req_h *request) {
    switch (way % 4) {
    case 0: shmemx_wait_req(*request); break;
    case 1: while (!shmemx_test_req(*request)) { } break;
    case 2: CHECK_EQ(shmemx_req_wait(request), 0); break;
    default: {
        int result;
        while ((result = shmemx_req_test(request)) == 1) { }
        CHECK_EQ(result, 0);
    }
    }
    if (way % 4 >= 2) {
        CHECK(*request == SHMEMX_REQ_INVALID);
        CHECK(shmemx_req_wait(request) < 0);
        CHECK(shmemx_req_test(request) < 0);
    } else {
        CHECK_EQ(shmemx_test_req(*request), 1);
        shmemx_wait_req(*request);
    }
}

static void on_team(shmem_team_t team, int call) {
    int size = shmem_team_n_pes(team), mine = shmem_team_my_pe(team), root = call % size;
    long n = call % 5 == 0 ? N : 1 + call % 7;
    int world[64];
    for (int i = 0; i < size; i++) world[i] = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
    shmemx_req_h request;
    fill(call, n * size);
    CHECK_EQ(shmemx_team_sync_nb(team, &request), 0);
    finish(call, &request);
    CHECK_EQ(shmemx_long_broadcast_nb(team, target, source, (size_t)n, root, &request), 0);
    finish(call + 1, &request);
    for (long k = 0; k < n; k++) CHECK_EQ(target[k], give(call, world[root], k));
    shmem_team_sync(team);
    CHECK_EQ(shmemx_fcollectmem_nb(team, target, source, (size_t)n * sizeof(long), &request), 0);
    finish(call + 2, &request);
    for (long k = 0; k < n * size; k++) CHECK_EQ(target[k], give(call, world[k / n], k % n));
    shmem_team_sync(team);
    CHECK_EQ(shmemx_long_collect_nb(team, target, source, (size_t)(mine % 3 * n / 2), &request), 0);
    finish(call + 3, &request);
    long at = 0;
    for (int i = 0; i < size; i++)
        for (long k = 0; k < i % 3 * n / 2; k++, at++) CHECK_EQ(target[at], give(call, world[i], k));
    shmem_team_sync(team);
    CHECK_EQ(shmemx_long_alltoall_nb(team, target, source, (size_t)n, &request), 0);
    finish(call, &request);
    for (long k = 0; k < n * size; k++) CHECK_EQ(target[k], give(call, world[k / n], mine * n + k % n));
    shmem_team_sync(team);
    CHECK_EQ(shmemx_long_sum_reduce_nb(team, target, source, (size_t)n, &request), 0);
    finish(call + 1, &request);
    for (long k = 0; k < n; k++) {
        long sum = 0;
        for (int i = 0; i < size; i++) sum += give(call, world[i], k);
        CHECK_EQ(target[k], sum);
    }
    shmem_team_sync(team);
    CHECK_EQ(shmemx_long_max_reduce_nb(team, source, source, (size_t)n, &request), 0);
    finish(call + 2, &request);
    for (long k = 0; k < n; k++) {
        long most = 0;
        for (int i = 0; i < size; i++) most = world[i] > most ? world[i] : most;
        CHECK_EQ(source[k], give(call, (int)most, k));
    }
    shmem_team_sync(team);
}

/* Sums on sets that overlap, each with its own work array. Each PE begins them in an order of its own. */
static void outstanding(int round) {
    uint64_t everyone = 17 + (uint64_t)round, own = 1000 * (uint64_t)round + (uint64_t)me;
    static shmemx_aset *sets[AT_A_TIME];
    static shmemx_req_h requests[AT_A_TIME];
    static long expected[AT_A_TIME];
    int order[AT_A_TIME];
    for (int i = 0; i < AT_A_TIME; i++) {
        int start = (int)(draw(&everyone) % (uint64_t)npes), stride = 1 + (int)(draw(&everyone) % 3);
        int most = (npes - start + stride - 1) / stride, size = 1 + (int)(draw(&everyone) % (uint64_t)most);
        sets[i] = shmemx_create_strided_aset(start, stride, size);
        expected[i] = 0;
        for (int k = 0; k < size; k++) expected[i] += give(round, start + k * stride, i);
        given[i] = give(round, me, i);
        more[i][0] = -1;
        requests[i] = SHMEMX_REQ_INVALID;
        order[i] = i;
    }
    for (int i = AT_A_TIME - 1; i > 0; i--) {
        int other = (int)(draw(&own) % (uint64_t)(i + 1)), swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    shmem_barrier_all();
    size_t begun = 0;
    for (int k = 0; k < AT_A_TIME; k++) {
        int i = order[k];
        if (shmemx_in_aset(sets[i])) {
            shmemx_long_sum_to_all_nb(more[i], &given[i], 1, sets[i], NULL, work[i], &requests[i]);
            begun++;
        }
        /* The operation goes on without its set. */
        shmemx_delete_aset(sets[i]);
        if (k == AT_A_TIME / 2) shmem_sync_all();
    }
    if (round % 2) {
        CHECK_EQ(shmemx_req_wait_all(AT_A_TIME, requests), 0);
    } else {
        for (size_t done = 0; done < begun;) {
            size_t indices[AT_A_TIME], some = shmemx_req_test_some(AT_A_TIME, requests, indices);
            for (size_t k = 0; k < some; k++) CHECK_EQ(more[indices[k]][0], expected[indices[k]]);
            done += some;
            if (done < begun) {
                size_t one = shmemx_req_wait_any(AT_A_TIME, requests);
                CHECK(one < AT_A_TIME);
                CHECK_EQ(more[one][0], expected[one]);
                done++;
            }
        }
        CHECK(shmemx_req_wait_any(AT_A_TIME, requests) == SIZE_MAX);
    }
    for (int i = 0; i < AT_A_TIME; i++) {
        CHECK(requests[i] == SHMEMX_REQ_INVALID);
        if (more[i][0] != -1) CHECK_EQ(more[i][0], expected[i]);
    }
    shmem_barrier_all();
}

static void without_a_handle(void) {
    for (int call = 0; call < 20; call++) {
        long before = given[0] = give(call, me, 0);
        shmemx_long_broadcast_nb(SHMEM_TEAM_WORLD, more[0], given, 1, call % npes, NULL);
        shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, more[1], given, 1, NULL);
        shmem_barrier_all();
        long sum = 0;
        for (int pe = 0; pe < npes; pe++) sum += give(call, pe, 0);
        CHECK_EQ(more[0][0], give(call, call % npes, 0));
        CHECK_EQ(more[1][0], sum);
        CHECK_EQ(given[0], before);
        shmem_barrier_all();
    }
}

static void nothing(void) {
    shmemx_req_h request = 5;
    CHECK(shmemx_long_sum_reduce_nb(SHMEM_TEAM_INVALID, target, source, 1, &request) != 0);
    CHECK_EQ(shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, target, source, 0, &request), 0);
    CHECK_EQ(shmemx_req_wait(&request), 0);
    CHECK_EQ(shmemx_req_wait_all(0, NULL), 0);
    CHECK(shmemx_req_wait_any(0, NULL) == SIZE_MAX);
    shmemx_wait_req(SHMEMX_REQ_INVALID);
    CHECK_EQ(shmemx_test_req(SHMEMX_REQ_INVALID), 1);
}

int main(void) {
    begin();
    for (int w = 0; w < AT_A_TIME; w++) for (int k = 0; k < SHMEM_SYNC_SIZE; k++) work[w][k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    nothing();
    shmem_team_t evens = SHMEM_TEAM_INVALID, backwards = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, NULL, 0, &evens);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &backwards);
    for (int call = 0; call < 4; call++) {
        on_team(SHMEM_TEAM_WORLD, call);
        if (evens != SHMEM_TEAM_INVALID) on_team(evens, call + 100);
        on_team(backwards, call + 200);
    }
    shmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) outstanding(round);
    without_a_handle();
    return end();
}

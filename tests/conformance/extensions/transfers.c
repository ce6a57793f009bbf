/* Puts, gets and atomics with handles: results, 65,536 of them outstanding, every way to wait for them, contexts, and
 * no handle at all.
 * pes: 1 2 4 13 16
 * limit: 200
 */
#include "check.h"

#include <shmemx.h>

/* More of them in a soak. */
#ifndef MANY
#define MANY 65536
#endif
enum { N = 3000 };

static long counter, cell, table[N], read_back[N];
static float real;
static int small;
static uint64_t words[64];
static shmemx_request_handle_t requests[MANY];
static long before[MANY];

static int compare(const void *left, const void *right) {
    long a = *(const long *)left, b = *(const long *)right;
    return (a > b) - (a < b);
}

static void atomics(int pe) {
    shmemx_request_handle_t request;
    long old = -1;
    shmem_barrier_all();
    cell = 10;
    real = 1.5f;
    small = 3;
    shmem_barrier_all();
    if (me == 0) {
        shmemx_long_fadd_nb(&cell, 5, pe, &old, &request);
        shmemx_wait_req(request);
        CHECK_EQ(old, 10);
        shmemx_long_cswap_nb(&cell, 14, 1, pe, &old, &request);
        shmemx_wait_req(request);
        CHECK_EQ(old, 15);
        shmemx_long_cswap_nb(&cell, 15, 20, pe, &old, &request);
        while (!shmemx_test_req(request)) { }
        CHECK_EQ(old, 15);
        shmemx_long_swap_nb(&cell, 30, pe, &old, &request);
        CHECK_EQ(shmemx_req_wait(&request), 0);
        CHECK_EQ(old, 20);
        shmemx_long_finc_nb(&cell, pe, &old, &request);
        CHECK_EQ(shmemx_req_wait_remote(&request), 0);
        CHECK_EQ(old, 30);
        shmemx_long_add_nb(&cell, 7, pe, &request);
        shmemx_wait_req(request);
        CHECK_EQ(shmem_long_atomic_fetch(&cell, pe), 38);
        shmemx_long_inc_nb(&cell, pe, NULL);
        shmem_quiet();
        CHECK_EQ(shmem_long_atomic_fetch(&cell, pe), 39);
        float was = 0;
        shmemx_float_swap_nb(&real, 2.5f, pe, &was, &request);
        shmemx_wait_req(request);
        CHECK(was == 1.5f && shmem_float_atomic_fetch(&real, pe) == 2.5f);
        int few = 0;
        shmem_ctx_t ctx;
        CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
        shmemx_ctx_int_fadd_nb(ctx, &small, 4, pe, &few, &request);
        shmemx_wait_req(request);
        CHECK_EQ(few, 3);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
}

static void moves(int pe) {
    shmemx_request_handle_t request, other;
    for (int k = 0; k < N; k++) table[k] = me * 10000L + k;
    shmem_barrier_all();
    shmemx_long_get_nb(read_back, table, N, pe, &request);
    shmemx_wait_req(request);
    for (int k = 0; k < N; k++) CHECK_EQ(read_back[k], pe * 10000L + k);
    shmem_barrier_all();
    static long out[N];
    for (int k = 0; k < N; k++) out[k] = me * 7L + k;
    shmemx_putmem_nb(table, out, sizeof out, pe, &request);
    CHECK_EQ(shmemx_req_wait_remote(&request), 0);
    CHECK(request == SHMEMX_REQ_INVALID);
    CHECK_EQ(shmem_long_g(&table[N - 1], pe), me * 7L + N - 1);
    shmemx_put64_nb(table, out, 10, pe, &request);
    shmemx_get128_nb(words, words, 0, pe, &other);
    shmemx_wait_req(other);
    shmemx_wait_req(request);
    shmemx_long_put_nb(table, out, 3, pe, NULL);
    shmem_barrier_all();
}

static void many(int pe) {
    int count = fewer(MANY) < 4096 ? 4096 : fewer(MANY);
    shmem_barrier_all();
    for (int k = 0; k < count; k++) shmemx_long_fadd_nb(&counter, 1, pe, &before[k], &requests[k]);
    CHECK_EQ(shmemx_req_wait_all((size_t)count, requests), 0);
    for (int k = 0; k < count; k++) CHECK(requests[k] == SHMEMX_REQ_INVALID);
    qsort(before, (size_t)count, sizeof *before, compare);
    for (int k = 1; k < count; k++) CHECK(before[k - 1] < before[k]);
    shmem_barrier_all();
    CHECK_EQ(counter % count, 0);
}

int main(void) {
    begin();
    int pe = (me + 1) % npes;
    atomics(npes - 1);
    atomics(0);
    moves(pe);
    many(0);
    many(npes - 1);
    return end();
}

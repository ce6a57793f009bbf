/* 9.11 to 9.13: a barrier made of flags, transfers that are taken as they come, ordered updates, a lock. */
#include <shmem.h>
#include <string.h>
#include "must.h"

#define MOST 32

static void flag_barrier(int me, int n) {
    static int flags[MOST];
    int status[MOST] = {0};
    status[me] = 1;
    for (int pe = 0; pe < n; pe++) shmem_atomic_set(&flags[me], 1, pe);
    shmem_wait_until_all(flags, (size_t)n, status, SHMEM_CMP_EQ, 1);
    for (int pe = 0; pe < n; pe++) MUST(pe == me || flags[pe] == 1);
    MUST(shmem_test_all(flags, (size_t)n, status, SHMEM_CMP_EQ, 1) == 1);
    shmem_barrier_all();
}

/* Each PE sends its values to all; they are added as they arrive, one way or the other. */
static void as_they_come(int me, int n, int way) {
    enum { N = 100 };
    static long data[MOST * N];
    static int flags[MOST];
    static int wanted[MOST];
    memset(data, 0, sizeof data);
    memset(flags, 0, sizeof flags);
    for (int pe = 0; pe < n; pe++) wanted[pe] = pe % 2 + 1;
    shmem_barrier_all();
    long mine[N];
    for (int i = 0; i < N; i++) mine[i] = me * N + i;
    for (int pe = 0; pe < n; pe++) {
        shmem_put_nbi(&data[me * N], mine, N, pe);
        shmem_fence();
        shmem_p(&flags[me], me % 2 + 1, pe);
    }
    int status[MOST] = {0};
    size_t indices[MOST], left = (size_t)n;
    long sum = 0;
    while (left > 0) {
        size_t found = 0;
        if (way == 0) {
            indices[0] = shmem_wait_until_any(flags, (size_t)n, status, SHMEM_CMP_NE, 0);
            found = 1;
        } else if (way == 1) {
            found = shmem_wait_until_some(flags, (size_t)n, indices, status, SHMEM_CMP_NE, 0);
        } else if (way == 2) {
            indices[0] = shmem_wait_until_any_vector(flags, (size_t)n, status, SHMEM_CMP_EQ, wanted);
            found = 1;
        } else if (way == 3) {
            indices[0] = shmem_test_any(flags, (size_t)n, status, SHMEM_CMP_NE, 0);
            found = indices[0] != SIZE_MAX;
        } else {
            found = shmem_test_some(flags, (size_t)n, indices, status, SHMEM_CMP_NE, 0);
        }
        for (size_t k = 0; k < found; k++) {
            MUST(indices[k] < (size_t)n && status[indices[k]] == 0);
            status[indices[k]] = 1;
            for (int i = 0; i < N; i++) sum += data[indices[k] * N + (size_t)i];
        }
        left -= found;
    }
    long all = (long)n * N;
    MUST(sum == all * (all - 1) / 2);
    MUST(shmem_wait_until_any(flags, (size_t)n, status, SHMEM_CMP_NE, 0) == SIZE_MAX);
    shmem_barrier_all();
}

/* All that hold come up in a series of calls, also without a mask. */
static void everyone_comes_up(int me) {
    static int flags[5];
    for (int i = 0; i < 5; i++) flags[i] = i != 2;
    shmem_barrier_all();
    int waited[5] = {0}, tested[5] = {0};
    for (int call = 0; call < 2000; call++) {
        waited[shmem_wait_until_any(flags, 5, NULL, SHMEM_CMP_EQ, 1)]++;
        tested[shmem_test_any(flags, 5, NULL, SHMEM_CMP_EQ, 1)]++;
    }
    for (int i = 0; i < 5; i++) MUST((waited[i] > 0) == (i != 2) && (tested[i] > 0) == (i != 2));
    (void)me;
    shmem_barrier_all();
}

static void ordered(int me, int n) {
    static long row[10], last, flag;
    int right = (me + 1) % n, left = (me + n - 1) % n;
    long values[10];
    for (int i = 0; i < 10; i++) values[i] = me * 10 + i;
    shmem_put(row, values, 10, right);
    shmem_p(&last, 77l, right);
    shmem_fence();
    shmem_p(&flag, 1l, right);
    shmem_wait_until(&flag, SHMEM_CMP_EQ, 1l);
    MUST(last == 77);
    for (int i = 0; i < 10; i++) MUST(row[i] == left * 10 + i);
    int targets[] = {right, me};
    shmem_pe_quiet(targets, 2);
    shmem_quiet();
    MUST(shmem_g(&flag, right) == 1);
    MUST(shmem_test(&flag, SHMEM_CMP_GT, 1l) == 0);
    shmem_barrier_all();
}

static void locked(int me, int n) {
    static long lock, count;
    static int seen = -1;
    for (int round = 0; round < 50; round++) {
        if (round % 2 == 0) shmem_set_lock(&lock);
        else
            while (shmem_test_lock(&lock) != 0) {}
        shmem_p(&count, shmem_g(&count, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    MUST(shmem_g(&count, 0) == 50l * n && seen == -1);
    (void)me;
    shmem_barrier_all();
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    flag_barrier(me, n);
    for (int way = 0; way < 5; way++) as_they_come(me, n, way);
    everyone_comes_up(me);
    ordered(me, n);
    locked(me, n);
    shmem_finalize();
    return 0;
}

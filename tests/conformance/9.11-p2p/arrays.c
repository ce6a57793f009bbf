/* 9.11.2 to 9.11.14: wait and test on arrays of every type: all, any, some and their vector forms; a masked element is
 * left out; an empty set (no elements, or all masked) makes wait_until_all return, *_any give SIZE_MAX, *_some 0 and
 * test_all 1; status may be null.
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_long_wait_until_all shmem_long_test_all
 */
#include "check.h"

enum { N = 16 };

//@each shmem_TYPENAME_wait_until_all shmem_TYPENAME_wait_until_any shmem_TYPENAME_wait_until_some
//@and shmem_TYPENAME_test_all shmem_TYPENAME_test_any shmem_TYPENAME_test_some shmem_TYPENAME_wait_until_all_vector
//@and shmem_TYPENAME_wait_until_any_vector shmem_TYPENAME_wait_until_some_vector shmem_TYPENAME_test_all_vector
//@and shmem_TYPENAME_test_any_vector shmem_TYPENAME_test_some_vector
static TYPE static_TYPENAME[N];

/* Easy to get wrong: the empty set. */
static void empty_TYPENAME(TYPE *words) {
    int masked[N];
    size_t indices[N];
    TYPE values[N];
    for (int k = 0; k < N; k++) { masked[k] = 1; values[k] = (TYPE)5; words[k] = (TYPE)0; }
    for (int round = 0; round < 2; round++) {
        size_t n = round ? N : 0;
        const int *status = round ? masked : NULL;
        shmem_TYPENAME_wait_until_all(words, n, status, SHMEM_CMP_EQ, (TYPE)5);
        CHECK(shmem_TYPENAME_wait_until_any(words, n, status, SHMEM_CMP_EQ, (TYPE)5) == SIZE_MAX);
        CHECK(shmem_TYPENAME_wait_until_some(words, n, indices, status, SHMEM_CMP_EQ, (TYPE)5) == 0);
        shmem_TYPENAME_wait_until_all_vector(words, n, status, SHMEM_CMP_EQ, values);
        CHECK(shmem_TYPENAME_wait_until_any_vector(words, n, status, SHMEM_CMP_EQ, values) == SIZE_MAX);
        CHECK(shmem_TYPENAME_wait_until_some_vector(words, n, indices, status, SHMEM_CMP_EQ, values) == 0);
        CHECK(shmem_TYPENAME_test_all(words, n, status, SHMEM_CMP_EQ, (TYPE)5) == 1);
        CHECK(shmem_TYPENAME_test_any(words, n, status, SHMEM_CMP_EQ, (TYPE)5) == SIZE_MAX);
        CHECK(shmem_TYPENAME_test_some(words, n, indices, status, SHMEM_CMP_EQ, (TYPE)5) == 0);
        CHECK(shmem_TYPENAME_test_all_vector(words, n, status, SHMEM_CMP_EQ, values) == 1);
        CHECK(shmem_TYPENAME_test_any_vector(words, n, status, SHMEM_CMP_EQ, values) == SIZE_MAX);
        CHECK(shmem_TYPENAME_test_some_vector(words, n, indices, status, SHMEM_CMP_EQ, values) == 0);
    }
}

/* Local stores first: which elements satisfy is known. */
static void local_TYPENAME(TYPE *words) {
    int status[N] = {0};
    size_t indices[N];
    TYPE values[N];
    for (int k = 0; k < N; k++) { words[k] = (TYPE)k; values[k] = (TYPE)(k < 3 ? k : 100); }
    status[0] = 1;
    CHECK(shmem_TYPENAME_test_all(words, N, NULL, SHMEM_CMP_LT, (TYPE)N) == 1);
    CHECK(shmem_TYPENAME_test_all(words, N, NULL, SHMEM_CMP_NE, (TYPE)4) == 0);
    CHECK(shmem_TYPENAME_test_all(words, N, status, SHMEM_CMP_GT, (TYPE)0) == 1);
    CHECK(shmem_TYPENAME_test_any(words, N, status, SHMEM_CMP_LE, (TYPE)0) == SIZE_MAX);
    CHECK(shmem_TYPENAME_test_any(words, N, NULL, SHMEM_CMP_EQ, (TYPE)7) == 7);
    CHECK(shmem_TYPENAME_wait_until_any(words, N, status, SHMEM_CMP_EQ, (TYPE)15) == 15);
    CHECK(shmem_TYPENAME_test_some(words, N, indices, status, SHMEM_CMP_LE, (TYPE)3) == 3);
    bool seen[N] = {false};
    for (int k = 0; k < 3; k++) seen[indices[k]] = true;
    CHECK(seen[1] && seen[2] && seen[3]);
    size_t n = shmem_TYPENAME_wait_until_some(words, N, indices, NULL, SHMEM_CMP_GE, (TYPE)14);
    CHECK(n == 2 && indices[0] + indices[1] == 29);
    /* Vector forms compare each element with its own value. */
    CHECK(shmem_TYPENAME_test_all_vector(words, 3, NULL, SHMEM_CMP_EQ, values) == 1);
    CHECK(shmem_TYPENAME_test_all_vector(words, N, NULL, SHMEM_CMP_EQ, values) == 0);
    CHECK(shmem_TYPENAME_test_any_vector(words + 3, N - 3, NULL, SHMEM_CMP_EQ, values + 3) == SIZE_MAX);
    CHECK(shmem_TYPENAME_wait_until_any_vector(words, N, status, SHMEM_CMP_EQ, values) < 3);
    CHECK(shmem_TYPENAME_test_some_vector(words, N, indices, status, SHMEM_CMP_EQ, values) == 2);
    CHECK(shmem_TYPENAME_wait_until_some_vector(words, N, indices, NULL, SHMEM_CMP_NE, values) == N - 3);
    shmem_TYPENAME_wait_until_all_vector(words, N, NULL, SHMEM_CMP_LE, values);
    shmem_TYPENAME_wait_until_all(words, N, status, SHMEM_CMP_GE, (TYPE)1);
}

/* Every PE writes its elements on the next one, which collects them with each of the routines. */
static void remote_TYPENAME(TYPE *words) {
    int next = (me + 1) % npes;
    for (int kind = 0; kind < 6; kind++) {
        int status[N] = {0};
        size_t indices[N], found = 0;
        TYPE values[N];
        for (int k = 0; k < N; k++) { words[k] = (TYPE)0; values[k] = (TYPE)(k + 1); }
        shmem_barrier_all();
        for (int k = 0; k < N; k++) {
            int at = (k * 7 + me) % N;
            shmem_TYPENAME_p(&words[at], (TYPE)(at + 1), next);
        }
        shmem_quiet();
        switch (kind) {
        case 0: shmem_TYPENAME_wait_until_all(words, N, NULL, SHMEM_CMP_GT, (TYPE)0); found = N; break;
        case 1:
            while (found < N) {
                size_t at = shmem_TYPENAME_wait_until_any(words, N, status, SHMEM_CMP_NE, (TYPE)0);
                CHECK(at < N && status[at] == 0);
                status[at] = 1;
                found++;
            }
            break;
        case 2:
            while (found < N) {
                size_t n = shmem_TYPENAME_wait_until_some(words, N, indices, status, SHMEM_CMP_GT, (TYPE)0);
                CHECK(n >= 1 && n <= N - found);
                for (size_t k = 0; k < n; k++) { CHECK(indices[k] < N
                    && status[indices[k]] == 0); status[indices[k]] = 1; }
                found += n;
            }
            break;
        case 3: shmem_TYPENAME_wait_until_all_vector(words, N, NULL, SHMEM_CMP_EQ, values); found = N; break;
        case 4:
            while (found < N) {
                size_t at = shmem_TYPENAME_wait_until_any_vector(words, N, status, SHMEM_CMP_EQ, values);
                CHECK(at < N && status[at] == 0);
                status[at] = 1;
                found++;
            }
            break;
        case 5:
            while (found < N) {
                size_t n = shmem_TYPENAME_wait_until_some_vector(words, N, indices, status, SHMEM_CMP_GE, values);
                CHECK(n >= 1 && n <= N - found);
                for (size_t k = 0; k < n; k++) { CHECK(indices[k] < N
                    && status[indices[k]] == 0); status[indices[k]] = 1; }
                found += n;
            }
            break;
        }
        CHECK_EQ(found, N);
        for (int k = 0; k < N; k++) CHECKF(words[k] == (TYPE)(k + 1), "TYPENAME kind %d: element %d", kind, k);
        shmem_barrier_all();
    }
}
//@end

int main(void) {
    begin();
    void *block = symmetric(N * 8);
//@each shmem_TYPENAME_wait_until_all shmem_TYPENAME_wait_until_any shmem_TYPENAME_wait_until_some
//@and shmem_TYPENAME_test_all shmem_TYPENAME_test_any shmem_TYPENAME_test_some shmem_TYPENAME_wait_until_all_vector
//@and shmem_TYPENAME_wait_until_any_vector shmem_TYPENAME_wait_until_some_vector shmem_TYPENAME_test_all_vector
//@and shmem_TYPENAME_test_any_vector shmem_TYPENAME_test_some_vector
    empty_TYPENAME(block);
    local_TYPENAME(block);
    shmem_barrier_all();
    remote_TYPENAME(block);
    remote_TYPENAME(static_TYPENAME);
//@end
    return end();
}

/* 9.6 in C11, and by the overloads of C++: the type-generic macros select the routine by the type that the destination
 * points to, with and without a leading context, for every type.
 * pes: 2
 * cflags: -std=gnu11
 * also: c++
 * needs: shmem_malloc shmem_long_put shmem_long_p shmem_long_iput
 */
#include "check.h"

enum { N = 24 };

//@each shmem_TYPENAME_put shmem_TYPENAME_get shmem_TYPENAME_p shmem_TYPENAME_g shmem_TYPENAME_iput
//@and shmem_TYPENAME_iget shmem_TYPENAME_put_nbi shmem_TYPENAME_get_nbi
static TYPE static_TYPENAME[N];

static void expect_TYPENAME(const TYPE *found, int n, int stride, uint64_t seed, const char *what) {
    for (int k = 0; k < n; k++) CHECKF(found[k * stride] == VALUE(TYPE, k + seed), "TYPENAME %s: element %d", what, k);
}

static void run_TYPENAME(void) {
    TYPE *block = static_TYPENAME, source[N], back[N];
    const TYPE *readable = block;
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    uint64_t mine = (uint64_t)me * 100, theirs = (uint64_t)before * 100;
    for (int k = 0; k < N; k++) source[k] = VALUE(TYPE, k + mine);
#define ROUND(what, call, n, stride)                                                                                   \
    do {                                                                                                               \
        memset(block, 0, sizeof static_TYPENAME);                                                                      \
        shmem_barrier_all();                                                                                           \
        call;                                                                                                          \
        shmem_barrier_all();                                                                                           \
        expect_TYPENAME(block, n, stride, theirs, what);                                                               \
        shmem_barrier_all();                                                                                           \
    } while (0)
    ROUND("put", shmem_put(block, source, N, next), N, 1);
    ROUND("put ctx", shmem_put(SHMEM_CTX_DEFAULT, block, (const TYPE *)source, N, next), N, 1);
    ROUND("put_nbi", shmem_put_nbi(block, source, N, next), N, 1);
    ROUND("put_nbi ctx", shmem_put_nbi(SHMEM_CTX_DEFAULT, block, source, N, next), N, 1);
    ROUND("p", shmem_p(block, source[0], next), 1, 1);
    ROUND("p ctx", shmem_p(SHMEM_CTX_DEFAULT, block, source[0], next), 1, 1);
    ROUND("iput", shmem_iput(block, source, 2, 1, N / 2, next), N / 2, 2);
    ROUND("iput ctx", shmem_iput(SHMEM_CTX_DEFAULT, block, source, 2, 1, N / 2, next), N / 2, 2);
#ifdef HAVE_shmem_TYPENAME_ibput
    ROUND("ibput", shmem_ibput(block, source, 3, 1, 1, N / 3, next), N / 3, 3);
    ROUND("ibput ctx", shmem_ibput(SHMEM_CTX_DEFAULT, block, source, 3, 1, 1, N / 3, next), N / 3, 3);
#endif
    shmem_put(block, source, N, next);
    shmem_barrier_all();
#define FETCH(what, call, n, stride)                                                                                   \
    do {                                                                                                               \
        memset(back, 0, sizeof back);                                                                                  \
        call;                                                                                                          \
        shmem_quiet();                                                                                                 \
        expect_TYPENAME(back, n, stride, mine, what);                                                                  \
    } while (0)
    FETCH("get", shmem_get(back, readable, N, next), N, 1);
    FETCH("get ctx", shmem_get(SHMEM_CTX_DEFAULT, back, block, N, next), N, 1);
    FETCH("get_nbi", shmem_get_nbi(back, readable, N, next), N, 1);
    FETCH("get_nbi ctx", shmem_get_nbi(SHMEM_CTX_DEFAULT, back, block, N, next), N, 1);
    FETCH("g", back[0] = shmem_g(readable, next), 1, 1);
    FETCH("g ctx", back[0] = shmem_g(SHMEM_CTX_DEFAULT, block, next), 1, 1);
    FETCH("iget", shmem_iget(back, readable, 2, 1, N / 2, next), N / 2, 2);
    FETCH("iget ctx", shmem_iget(SHMEM_CTX_DEFAULT, back, block, 2, 1, N / 2, next), N / 2, 2);
#ifdef HAVE_shmem_TYPENAME_ibget
    FETCH("ibget", shmem_ibget(back, readable, 3, 1, 1, N / 3, next), N / 3, 3);
    FETCH("ibget ctx", shmem_ibget(SHMEM_CTX_DEFAULT, back, block, 3, 1, 1, N / 3, next), N / 3, 3);
#endif
#undef ROUND
#undef FETCH
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
//@each shmem_TYPENAME_put shmem_TYPENAME_get shmem_TYPENAME_p shmem_TYPENAME_g shmem_TYPENAME_iput
//@and shmem_TYPENAME_iget shmem_TYPENAME_put_nbi shmem_TYPENAME_get_nbi
    run_TYPENAME();
//@end
    return end();
}

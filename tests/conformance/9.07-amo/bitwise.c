/* 9.7.1.9 to 9.7.1.14, 9.7.2.6 to 9.7.2.8: and, or, xor with fetch, ctx and nbi forms of every type that has them;
 * concurrent bit operations lose nothing.
 * pes: 1 2 3 4 7 16
 * needs: shmem_malloc shmem_uint64_atomic_fetch_or
 */
#include "check.h"

//@each shmem_TYPENAME_atomic_fetch_and shmem_TYPENAME_atomic_fetch_or shmem_TYPENAME_atomic_fetch_xor
static TYPE static_TYPENAME[3];

static void run_TYPENAME(TYPE *words) {
    TYPE *word = words + 1;
    TYPE a = VALUE(TYPE, 21), b = VALUE(TYPE, 22), d = VALUE(TYPE, 23);
    int target = (me + 1) % npes;
    words[0] = words[2] = (TYPE)8;
    words[1] = a;
    shmem_barrier_all();
#define SAME(call, expected) CHECKF((call) == (TYPE)(expected), "TYPENAME to PE %d, context %d", target, c)
    for (int c = -1; c < ncontexts; c++) {
        TYPE v = a;
        if (c < 0) {
            SAME(shmem_TYPENAME_atomic_fetch_and(word, b, target), v); v &= b;
            SAME(shmem_TYPENAME_atomic_fetch_or(word, d, target), v); v |= d;
            SAME(shmem_TYPENAME_atomic_fetch_xor(word, b, target), v); v ^= b;
            shmem_TYPENAME_atomic_or(word, a, target); v |= a;
            shmem_TYPENAME_atomic_and(word, d, target); v &= d;
            shmem_TYPENAME_atomic_xor(word, b, target); v ^= b;
            shmem_quiet();
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_or_nbi
            TYPE x = 1, y = 2, z = 3;
            shmem_TYPENAME_atomic_fetch_and_nbi(&x, word, b, target);
            shmem_quiet();
            SAME(x, v); v &= b;
            shmem_TYPENAME_atomic_fetch_or_nbi(&y, word, d, target);
            shmem_quiet();
            SAME(y, v); v |= d;
            shmem_TYPENAME_atomic_fetch_xor_nbi(&z, word, a, target);
            shmem_quiet();
            SAME(z, v); v ^= a;
#endif
            SAME(shmem_TYPENAME_atomic_fetch_xor(word, v ^ a, target), v);
        } else {
            shmem_ctx_t ctx = contexts[c];
            SAME(shmem_ctx_TYPENAME_atomic_fetch_and(ctx, word, b, target), v); v &= b;
            SAME(shmem_ctx_TYPENAME_atomic_fetch_or(ctx, word, d, target), v); v |= d;
            SAME(shmem_ctx_TYPENAME_atomic_fetch_xor(ctx, word, b, target), v); v ^= b;
            shmem_ctx_TYPENAME_atomic_or(ctx, word, a, target); v |= a;
            shmem_ctx_TYPENAME_atomic_and(ctx, word, d, target); v &= d;
            shmem_ctx_TYPENAME_atomic_xor(ctx, word, b, target); v ^= b;
            shmem_ctx_quiet(ctx);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_or_nbi
            TYPE x = 1, y = 2, z = 3;
            shmem_ctx_TYPENAME_atomic_fetch_and_nbi(ctx, &x, word, b, target);
            shmem_ctx_quiet(ctx);
            SAME(x, v); v &= b;
            shmem_ctx_TYPENAME_atomic_fetch_or_nbi(ctx, &y, word, d, target);
            shmem_ctx_quiet(ctx);
            SAME(y, v); v |= d;
            shmem_ctx_TYPENAME_atomic_fetch_xor_nbi(ctx, &z, word, a, target);
            shmem_ctx_quiet(ctx);
            SAME(z, v); v ^= a;
#endif
            SAME(shmem_ctx_TYPENAME_atomic_fetch_xor(ctx, word, v ^ a, target), v);
        }
    }
#undef SAME
    shmem_barrier_all();
    CHECK(words[0] == (TYPE)8 && words[1] == a && words[2] == (TYPE)8);
    /* Every PE sets, clears and toggles bits of its own on PE 0: the others' bits stay. */
    if (me == 0) words[1] = (TYPE)0xaaaaaaaaaaaaaaaau;
    shmem_barrier_all();
    TYPE low = (TYPE)((TYPE)1 << (2 * (me % 16))), high = (TYPE)((TYPE)2 << (2 * (me % 16)));
    for (int round = 0; round < 51; round++) {
        shmem_TYPENAME_atomic_or(word, low, 0);
        TYPE seen = shmem_TYPENAME_atomic_fetch_and(word, (TYPE)~low, 0);
        if (npes <= 16) CHECKF((seen & low) == low, "TYPENAME: bit lost in round %d", round);
        shmem_TYPENAME_atomic_xor(word, high, 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        TYPE expected = (TYPE)0xaaaaaaaaaaaaaaaau;
        for (int pe = 0; pe < npes; pe++) expected ^= (TYPE)((TYPE)2 << (2 * (pe % 16)));
        CHECKF(words[1] == expected, "TYPENAME%s", ": bits after the rounds");
    }
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(64);
//@each shmem_TYPENAME_atomic_fetch_and shmem_TYPENAME_atomic_fetch_or shmem_TYPENAME_atomic_fetch_xor
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
    close_contexts();
    return end();
}

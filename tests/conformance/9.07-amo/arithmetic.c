/* 9.7.1.1 to 9.7.1.8, 9.7.2.1 to 9.7.2.5: integer atomics of every type: fetch, set, compare-swap, swap, inc,
 * fetch-inc, add, fetch-add with their ctx, nbi and deprecated forms, on heap and static objects; values wrap around
 * and the neighbouring elements stay as they were.
 * pes: 1 2 3 4 7 16
 * needs: shmem_malloc shmem_long_atomic_fetch_add
 */
#include "check.h"

/* Forms: 0 plain, 1 with ctx, 2 nonblocking, 3 nonblocking with ctx. */
enum { FORMS = 4 };

//@each shmem_TYPENAME_atomic_fetch_add shmem_TYPENAME_atomic_compare_swap
static TYPE static_TYPENAME[3];

static void finish_TYPENAME(int form, shmem_ctx_t ctx) {
    if (form == 0 || form == 2) shmem_quiet(); else shmem_ctx_quiet(ctx);
}

static TYPE fetch_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, int pe) {
    TYPE old = (TYPE)99;
    switch (form) {
    case 0: return shmem_TYPENAME_atomic_fetch(word, pe);
    case 1: return shmem_ctx_TYPENAME_atomic_fetch(ctx, word, pe);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_nbi
    case 2: shmem_TYPENAME_atomic_fetch_nbi(&old, word, pe); break;
    case 3: shmem_ctx_TYPENAME_atomic_fetch_nbi(ctx, &old, word, pe); break;
#endif
    default: return shmem_TYPENAME_atomic_fetch(word, pe);
    }
    finish_TYPENAME(form, ctx);
    return old;
}

static TYPE swap_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, TYPE value, int pe) {
    TYPE old = (TYPE)99;
    switch (form) {
    case 0: return shmem_TYPENAME_atomic_swap(word, value, pe);
    case 1: return shmem_ctx_TYPENAME_atomic_swap(ctx, word, value, pe);
#ifdef HAVE_shmem_TYPENAME_atomic_swap_nbi
    case 2: shmem_TYPENAME_atomic_swap_nbi(&old, word, value, pe); break;
    case 3: shmem_ctx_TYPENAME_atomic_swap_nbi(ctx, &old, word, value, pe); break;
#endif
    default: return shmem_TYPENAME_atomic_swap(word, value, pe);
    }
    finish_TYPENAME(form, ctx);
    return old;
}

static TYPE compare_swap_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, TYPE cond, TYPE value, int pe) {
    TYPE old = (TYPE)99;
    switch (form) {
    case 0: return shmem_TYPENAME_atomic_compare_swap(word, cond, value, pe);
    case 1: return shmem_ctx_TYPENAME_atomic_compare_swap(ctx, word, cond, value, pe);
#ifdef HAVE_shmem_TYPENAME_atomic_compare_swap_nbi
    case 2: shmem_TYPENAME_atomic_compare_swap_nbi(&old, word, cond, value, pe); break;
    case 3: shmem_ctx_TYPENAME_atomic_compare_swap_nbi(ctx, &old, word, cond, value, pe); break;
#endif
    default: return shmem_TYPENAME_atomic_compare_swap(word, cond, value, pe);
    }
    finish_TYPENAME(form, ctx);
    return old;
}

static TYPE fetch_inc_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, int pe) {
    TYPE old = (TYPE)99;
    switch (form) {
    case 0: return shmem_TYPENAME_atomic_fetch_inc(word, pe);
    case 1: return shmem_ctx_TYPENAME_atomic_fetch_inc(ctx, word, pe);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_inc_nbi
    case 2: shmem_TYPENAME_atomic_fetch_inc_nbi(&old, word, pe); break;
    case 3: shmem_ctx_TYPENAME_atomic_fetch_inc_nbi(ctx, &old, word, pe); break;
#endif
    default: return shmem_TYPENAME_atomic_fetch_inc(word, pe);
    }
    finish_TYPENAME(form, ctx);
    return old;
}

static TYPE fetch_add_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, TYPE value, int pe) {
    TYPE old = (TYPE)99;
    switch (form) {
    case 0: return shmem_TYPENAME_atomic_fetch_add(word, value, pe);
    case 1: return shmem_ctx_TYPENAME_atomic_fetch_add(ctx, word, value, pe);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_add_nbi
    case 2: shmem_TYPENAME_atomic_fetch_add_nbi(&old, word, value, pe); break;
    case 3: shmem_ctx_TYPENAME_atomic_fetch_add_nbi(ctx, &old, word, value, pe); break;
#endif
    default: return shmem_TYPENAME_atomic_fetch_add(word, value, pe);
    }
    finish_TYPENAME(form, ctx);
    return old;
}

static void set_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, TYPE value, int pe) {
    if (form & 1) shmem_ctx_TYPENAME_atomic_set(ctx, word, value, pe); else shmem_TYPENAME_atomic_set(word, value, pe);
}

static void inc_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, int pe) {
    if (form & 1) shmem_ctx_TYPENAME_atomic_inc(ctx, word, pe); else shmem_TYPENAME_atomic_inc(word, pe);
}

static void add_TYPENAME(int form, shmem_ctx_t ctx, TYPE *word, TYPE value, int pe) {
    if (form & 1) shmem_ctx_TYPENAME_atomic_add(ctx, word, value, pe); else shmem_TYPENAME_atomic_add(word, value, pe);
}

/* One origin, one target: every operation against what C arithmetic gives. */
static void sequence_TYPENAME(TYPE *words, int form, shmem_ctx_t ctx, int target) {
    TYPE *word = words + 1;
    TYPE a = VALUE(TYPE, 3), b = VALUE(TYPE, 4), top = sizeof(TYPE) == 4 ? (TYPE)0x7fffffff : (TYPE)0x7fffffffffffffff;
#define SAME(call, expected) CHECKF((call) == (TYPE)(expected), "TYPENAME form %d to PE %d", form, target)
    set_TYPENAME(form, ctx, word, a, target);
    finish_TYPENAME(form, ctx);
    SAME(fetch_TYPENAME(form, ctx, word, target), a);
    SAME(swap_TYPENAME(form, ctx, word, b, target), a);
    SAME(compare_swap_TYPENAME(form, ctx, word, a, (TYPE)5, target), b);
    SAME(fetch_TYPENAME(form, ctx, word, target), b);
    SAME(compare_swap_TYPENAME(form, ctx, word, b, (TYPE)5, target), b);
    SAME(fetch_inc_TYPENAME(form, ctx, word, target), 5);
    inc_TYPENAME(form, ctx, word, target);
    finish_TYPENAME(form, ctx);
    SAME(fetch_add_TYPENAME(form, ctx, word, (TYPE)-10, target), 7);
    add_TYPENAME(form, ctx, word, (TYPE)4, target);
    finish_TYPENAME(form, ctx);
    SAME(fetch_TYPENAME(form, ctx, word, target), (TYPE)1);
    /* Around the upper end. */
    set_TYPENAME(form, ctx, word, top, target);
    inc_TYPENAME(form, ctx, word, target);
    finish_TYPENAME(form, ctx);
    SAME(fetch_add_TYPENAME(form, ctx, word, top, target), (TYPE)((unsigned long long)top + 1));
    SAME(fetch_TYPENAME(form, ctx, word, target), (TYPE)((unsigned long long)top * 2 + 1));
#undef SAME
}

static void run_TYPENAME(TYPE *words) {
    words[0] = words[1] = words[2] = (TYPE)7;
    shmem_barrier_all();
    for (int form = 0; form < FORMS; form++) {
        for (int c = 0; c < ((form & 1) ? ncontexts : 1); c++) {
            /* Each PE in turn has the target for itself. */
            sequence_TYPENAME(words, form, contexts[c], (me + form) % npes);
            shmem_barrier_all();
            /* All on PE 0: totals are exact and each fetched value is seen by one PE. */
            if (me == 0) words[1] = 0;
            shmem_barrier_all();
            for (int k = 0; k < 10; k++) {
                inc_TYPENAME(form, contexts[c], &words[1], 0);
                fetch_inc_TYPENAME(form, contexts[c], &words[1], 0);
                add_TYPENAME(form, contexts[c], &words[1], (TYPE)3, 0);
                fetch_add_TYPENAME(form, contexts[c], &words[1], (TYPE)-1, 0);
            }
            finish_TYPENAME(form, contexts[c]);
            shmem_barrier_all();
            if (me == 0) CHECKF(words[1] == (TYPE)(40 * npes), "TYPENAME total, form %d", form);
            shmem_barrier_all();
        }
    }
    CHECKF(words[0] == (TYPE)7 && words[2] == (TYPE)7, "TYPENAME%s", ": neighbours");
    shmem_barrier_all();
}
//@end

//@each shmem_TYPENAME_fadd
static void deprecated_TYPENAME(void) {
    static TYPE word;
    int target = (me + 1) % npes;
    shmem_TYPENAME_set(&word, (TYPE)11, target);
    shmem_quiet();
    CHECK(shmem_TYPENAME_fetch(&word, target) == 11);
    CHECK(shmem_TYPENAME_swap(&word, (TYPE)20, target) == 11);
    CHECK(shmem_TYPENAME_cswap(&word, (TYPE)1, (TYPE)2, target) == 20);
    CHECK(shmem_TYPENAME_cswap(&word, (TYPE)20, (TYPE)30, target) == 20);
    CHECK(shmem_TYPENAME_finc(&word, target) == 30);
    shmem_TYPENAME_inc(&word, target);
    shmem_quiet();
    CHECK(shmem_TYPENAME_fadd(&word, (TYPE)8, target) == 32);
    shmem_TYPENAME_add(&word, (TYPE)2, target);
    shmem_barrier_all();
    CHECK(word == 42);
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(64);
//@each shmem_TYPENAME_atomic_fetch_add shmem_TYPENAME_atomic_compare_swap
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
//@each shmem_TYPENAME_fadd
    deprecated_TYPENAME();
//@end
    close_contexts();
    shmem_free(block);
    return end();
}

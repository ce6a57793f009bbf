/* 9.6.1.1, 9.6.1.5, 9.6.2: put and get of every type, size and mem, blocking and not, with and without context, on
 * heap and static objects, with zero, one, odd and many elements.
 * pes: 1 2 3 4 7
 * needs: shmem_malloc shmem_long_put
 */
#include "check.h"

enum { N = 521, GUARD = 8 };

static const size_t counts[] = {0, 1, 2, 3, 7, 16, 63, 129, 512};

/* How a form is called: 0 blocking, 1 nonblocking, 2 blocking with ctx, 3 nonblocking with ctx. */
enum { FORMS = 4 };

static void complete(int form, shmem_ctx_t ctx) {
    /* A barrier completes what the default context issued, nothing else. */
    if (form == 1) shmem_quiet();
    if (form >= 2) shmem_ctx_quiet(ctx);
}

//@each shmem_{put} shmem_{get} shmem_ctx_{put} shmem_ctx_{get} shmem_{put}_nbi shmem_{get}_nbi shmem_ctx_{put}_nbi
//@and shmem_ctx_{get}_nbi
static TYPE static_TYPENAME[N + GUARD];

static void put_TYPENAME(int form, shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t n, int pe) {
    switch (form) {
    case 0: shmem_{put}(dest, source, n, pe); break;
    case 1: shmem_{put}_nbi(dest, source, n, pe); break;
    case 2: shmem_ctx_{put}(ctx, dest, source, n, pe); break;
    case 3: shmem_ctx_{put}_nbi(ctx, dest, source, n, pe); break;
    }
}

static void get_TYPENAME(int form, shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t n, int pe) {
    switch (form) {
    case 0: shmem_{get}(dest, source, n, pe); break;
    case 1: shmem_{get}_nbi(dest, source, n, pe); break;
    case 2: shmem_ctx_{get}(ctx, dest, source, n, pe); break;
    case 3: shmem_ctx_{get}_nbi(ctx, dest, source, n, pe); break;
    }
}

static void run_TYPENAME(TYPE *symmetric_block) {
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    TYPE source[N + GUARD], back[N + GUARD];
    for (int form = 0; form < FORMS; form++) {
        for (int c = 0; c < (form < 2 ? 1 : ncontexts); c++) {
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                size_t n = counts[i], at = i % 3;
                for (size_t k = 0; k < N + GUARD; k++) {
                    symmetric_block[k] = (TYPE)1;
                    source[k] = VALUE(TYPE, k * 131 + (size_t)me + i);
                    back[k] = (TYPE)2;
                }
                shmem_barrier_all();
                put_TYPENAME(form, contexts[c], symmetric_block + at, source, n, next);
                complete(form, contexts[c]);
                shmem_barrier_all();
                for (size_t k = 0; k < N + GUARD; k++) {
                    bool inside = k >= at && k < at + n;
                    TYPE expected = inside ? VALUE(TYPE, (k - at) * 131 + (size_t)before + i) : (TYPE)1;
                    CHECKF(symmetric_block[k] == expected,
                           "TYPENAME put form %d, context %d, %zu elements: element %zu", form,
                           c, n, k);
                }
                get_TYPENAME(form, contexts[c], back, symmetric_block + at, n, next);
                complete(form, contexts[c]);
                for (size_t k = 0; k < N + GUARD; k++) {
                    TYPE expected = k < n ? VALUE(TYPE, k * 131 + (size_t)me + i) : (TYPE)2;
                    CHECKF(back[k] == expected, "TYPENAME get form %d, context %d, %zu elements: element %zu", form, c,
                           n, k);
                }
                shmem_barrier_all();
            }
        }
    }
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric((N + GUARD) * sizeof(long double));
//@each shmem_{put} shmem_{get} shmem_ctx_{put} shmem_ctx_{get} shmem_{put}_nbi shmem_{get}_nbi shmem_ctx_{put}_nbi
//@and shmem_ctx_{get}_nbi
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
    close_contexts();
    shmem_free(block);
    return end();
}

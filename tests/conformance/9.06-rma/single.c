/* 9.6.1.2, 9.6.1.6: p and g of every type, with and without context, on heap and static objects; neighbours of the
 * element stay as they were.
 * pes: 1 2 3 4 7
 * needs: shmem_malloc shmem_long_p
 */
#include "check.h"

enum { N = 9 };

//@each shmem_TYPENAME_p shmem_TYPENAME_g shmem_ctx_TYPENAME_p shmem_ctx_TYPENAME_g
static TYPE static_TYPENAME[N];

static void run_TYPENAME(TYPE *block) {
    for (int k = 0; k < N; k++) block[k] = (TYPE)1;
    shmem_barrier_all();
    for (int shift = 0; shift < npes; shift++) {
        int target = (me + shift) % npes, origin = (me + npes - shift) % npes;
        for (int c = -1; c < ncontexts; c++) {
            int at = 1 + (shift + c + 1) % (N - 2);
            TYPE value = VALUE(TYPE, me * 64 + shift + c), expected = VALUE(TYPE, origin * 64 + shift + c);
            if (c < 0) {
                shmem_TYPENAME_p(&block[at], value, target);
            } else {
                shmem_ctx_TYPENAME_p(contexts[c], &block[at], value, target);
                shmem_ctx_quiet(contexts[c]);
            }
            shmem_barrier_all();
            CHECKF(block[at] == expected, "TYPENAME p, context %d, from PE %d", c, origin);
            CHECKF(block[at - 1] == (TYPE)1 && block[at + 1] == (TYPE)1, "TYPENAME p, context %d: neighbour", c);
            TYPE seen = c < 0 ? shmem_TYPENAME_g(&block[at], target) : shmem_ctx_TYPENAME_g(contexts[c], &block[at],
                target);
            CHECKF(seen == value, "TYPENAME g, context %d, from PE %d", c, target);
            shmem_barrier_all();
            block[at] = (TYPE)1;
            shmem_barrier_all();
        }
    }
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(N * sizeof(long double));
//@each shmem_TYPENAME_p shmem_TYPENAME_g shmem_ctx_TYPENAME_p shmem_ctx_TYPENAME_g
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
    close_contexts();
    shmem_free(block);
    return end();
}

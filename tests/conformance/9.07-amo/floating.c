/* 9.7.1.1, 9.7.1.2, 9.7.1.4, 9.7.2.1, 9.7.2.3: fetch, set and swap of float and double, with ctx, nbi and deprecated
 * forms; bit patterns survive (negative zero, infinity).
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_double_atomic_swap
 */
#include "check.h"

//@each shmem_TYPENAME_atomic_swap shmem_TYPENAME_swap
static TYPE static_TYPENAME[3];

static void run_TYPENAME(TYPE *words) {
    TYPE *word = words + 1;
    const TYPE values[] = {(TYPE)1.5, (TYPE)-0.0, (TYPE)1 / (TYPE)3, (TYPE)(1 / 0.0), (TYPE)-1e30};
    int target = (me + 1) % npes;
    words[0] = words[2] = (TYPE)8;
    shmem_barrier_all();
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        for (int c = -1; c < ncontexts; c++) {
            TYPE v = values[k], next = values[(k + 1) % 5], old = (TYPE)77, found;
            if (c < 0) {
                shmem_TYPENAME_atomic_set(word, v, target);
                shmem_quiet();
                found = shmem_TYPENAME_atomic_fetch(word, target);
                CHECK(memcmp(&found, &v, sizeof v) == 0);
                found = shmem_TYPENAME_atomic_swap(word, next, target);
                CHECK(memcmp(&found, &v, sizeof v) == 0);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_nbi
                shmem_TYPENAME_atomic_fetch_nbi(&old, word, target);
                shmem_quiet();
                CHECK(memcmp(&old, &next, sizeof v) == 0);
                shmem_TYPENAME_atomic_swap_nbi(&old, word, v, target);
                shmem_quiet();
                CHECK(memcmp(&old, &next, sizeof v) == 0);
#endif
            } else {
                shmem_ctx_TYPENAME_atomic_set(contexts[c], word, v, target);
                shmem_ctx_quiet(contexts[c]);
                found = shmem_ctx_TYPENAME_atomic_fetch(contexts[c], word, target);
                CHECK(memcmp(&found, &v, sizeof v) == 0);
                found = shmem_ctx_TYPENAME_atomic_swap(contexts[c], word, next, target);
                CHECK(memcmp(&found, &v, sizeof v) == 0);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_nbi
                shmem_ctx_TYPENAME_atomic_fetch_nbi(contexts[c], &old, word, target);
                shmem_ctx_quiet(contexts[c]);
                CHECK(memcmp(&old, &next, sizeof v) == 0);
                shmem_ctx_TYPENAME_atomic_swap_nbi(contexts[c], &old, word, v, target);
                shmem_ctx_quiet(contexts[c]);
                CHECK(memcmp(&old, &next, sizeof v) == 0);
#endif
            }
        }
    }
    shmem_barrier_all();
    CHECK(words[0] == (TYPE)8 && words[2] == (TYPE)8);
    shmem_TYPENAME_set(word, (TYPE)2, target);
    shmem_quiet();
    CHECK(shmem_TYPENAME_fetch(word, target) == (TYPE)2);
    CHECK(shmem_TYPENAME_swap(word, (TYPE)3, target) == (TYPE)2);
    shmem_barrier_all();
    CHECK(*word == (TYPE)3);
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(64);
//@each shmem_TYPENAME_atomic_swap shmem_TYPENAME_swap
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
    close_contexts();
    return end();
}

/* 9.3: return values, alignment, symmetry and contents: zero sizes give NULL without a barrier, free(NULL) does
 * nothing, realloc keeps the contents, calloc zeroes, align aligns, hints are accepted; the memory of the others can be
 * used as soon as the call returns.
 * pes: 1 2 3 4 7
 * needs: shmem_malloc shmem_calloc shmem_align shmem_realloc shmem_free
 */
#include "check.h"

/* The same offset from a reference block on every PE makes an address symmetric. */
static void check_symmetric(const char *base, const void *block) {
    static long offset;
    offset = (const char *)block - base;
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&offset, (me + 1) % npes), offset);
    shmem_barrier_all();
}

/* Easy to get wrong: a zero size has no barrier, so PE 0 gets through alone. */
static void zero_sizes(void) {
    static long done;
    done = 0;
    shmem_barrier_all();
    if (me == 0) {
        CHECK(shmem_malloc(0) == NULL);
        CHECK(shmem_align(64, 0) == NULL);
        CHECK(shmem_calloc(0, 8) == NULL);
        CHECK(shmem_calloc(8, 0) == NULL);
#ifdef HAVE_shmem_malloc_with_hints
        CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
#endif
        CHECK(shmem_realloc(NULL, 0) == NULL);
        shmem_free(NULL);
        for (int pe = 0; pe < npes; pe++) shmem_long_p(&done, 1, pe);
    }
    shmem_long_wait_until(&done, SHMEM_CMP_EQ, 1);
    shmem_barrier_all();
}

int main(void) {
    begin();
    char *base = symmetric(1);
    zero_sizes();
    for (size_t size = 1; size <= 1 << 20; size = size * 3 + 1) {
        char *block = shmem_malloc(size);
        CHECK(block != NULL && (uintptr_t)block % _Alignof(max_align_t) == 0);
        /* Usable at once on every other PE: the barrier is on exit. */
        char mark = (char)(me + 1);
        if (size >= (size_t)npes) {
            for (int pe = 0; pe < npes; pe++) shmem_putmem(block + me, &mark, 1, pe);
            shmem_barrier_all();
            for (int pe = 0; pe < npes; pe++) CHECK_EQ(block[pe], pe + 1);
        }
        check_symmetric(base, block);
        memset(block, 0x5a, size);
        char *grown = shmem_realloc(block, size * 2);
        CHECK(grown != NULL);
        for (size_t k = 0; k < size; k++) CHECK_EQ(grown[k], 0x5a);
        check_symmetric(base, grown);
        char *shrunk = shmem_realloc(grown, size / 2 + 1);
        CHECK(shrunk != NULL);
        for (size_t k = 0; k < size / 2 + 1; k++) if (k < size) CHECK_EQ(shrunk[k], 0x5a);
        /* realloc(p, 0) frees. */
        CHECK(shmem_realloc(shrunk, 0) == NULL);
        char *zeroed = shmem_calloc(size, 3);
        CHECK(zeroed != NULL && (uintptr_t)zeroed % _Alignof(max_align_t) == 0);
        for (size_t k = 0; k < size * 3; k++) CHECK_EQ(zeroed[k], 0);
        check_symmetric(base, zeroed);
        shmem_free(zeroed);
    }
    /* calloc zeroes memory that was used before. */
    for (int round = 0; round < 10; round++) {
        unsigned char *used = symmetric(5000);
        memset(used, 0xff, 5000);
        shmem_free(used);
        used = shmem_calloc(1250, 4);
        for (int k = 0; k < 5000; k++) CHECK_EQ(used[k], 0);
        shmem_free(used);
    }
    CHECK(shmem_calloc(SIZE_MAX / 2, 3) == NULL);
    for (size_t alignment = sizeof(void *); alignment <= 1 << 16; alignment *= 2) {
        char *a = shmem_align(alignment, 100), *b = shmem_align(alignment, 1);
        CHECK(a != NULL && (uintptr_t)a % alignment == 0 && b != NULL && (uintptr_t)b % alignment == 0);
        check_symmetric(base, b);
        memset(a, 1, 100);
        a = shmem_realloc(a, 300);
        CHECK(a != NULL && a[99] == 1);
        shmem_free(a);
        shmem_free(b);
    }
    char *fresh = shmem_realloc(NULL, 64);
    CHECK(fresh != NULL);
    shmem_free(fresh);
#ifdef HAVE_shmem_malloc_with_hints
    static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
                                 SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
    for (int i = 0; i < 4; i++) {
        char *hinted = shmem_malloc_with_hints(1000, hints[i]);
        CHECK(hinted != NULL);
        check_symmetric(base, hinted);
        memset(hinted, 3, 1000);
        hinted = shmem_realloc(hinted, 3000);
        CHECK(hinted != NULL && hinted[999] == 3);
        shmem_free(hinted);
    }
#endif
#if defined HAVE_shmalloc && defined HAVE_shmemalign && defined HAVE_shrealloc && defined HAVE_shfree
    char *old = shmalloc(10);
    CHECK(old != NULL);
    old = shrealloc(old, 100);
    CHECK(old != NULL);
    shfree(old);
    old = shmemalign(4096, 10);
    CHECK(old != NULL && (uintptr_t)old % 4096 == 0);
    shfree(old);
#endif
    shmem_free(base);
    return end();
}

/* 9.11.1, 9.11.8: wait_until and test of every type with all six comparisons, woken by puts, atomics and stores
 * through shmem_ptr; deprecated wait; signed types compare signed, unsigned ones unsigned; heap and static.
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_long_wait_until shmem_long_test
 */
#include "check.h"

//@each shmem_TYPENAME_wait_until shmem_TYPENAME_test
static TYPE static_TYPENAME[1];

static bool holds_TYPENAME(TYPE a, int cmp, TYPE b) {
    if (cmp == SHMEM_CMP_EQ) return a == b;
    if (cmp == SHMEM_CMP_NE) return a != b;
    if (cmp == SHMEM_CMP_GT) return a > b;
    if (cmp == SHMEM_CMP_GE) return a >= b;
    if (cmp == SHMEM_CMP_LT) return a < b;
    CHECK(cmp == SHMEM_CMP_LE);
    return a <= b;
}

static void run_TYPENAME(TYPE *word) {
    static const int operators[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
    const TYPE values[] = {(TYPE)0, (TYPE)1, (TYPE)-1, (TYPE)((TYPE)1 << (sizeof(TYPE) * 8 - 2))};
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < 4; b++) {
            for (int i = 0; i < 6; i++) {
                *word = values[a];
                bool expected = holds_TYPENAME(values[a], operators[i], values[b]);
                CHECKF(shmem_TYPENAME_test(word, operators[i], values[b]) == (int)expected,
                       "TYPENAME test, operator %d", i);
                if (expected) shmem_TYPENAME_wait_until(word, operators[i], values[b]);
            }
        }
    }
    /* Woken by another PE, in turn for each operator. */
    int next = (me + 1) % npes;
    for (int i = 0; i < 6; i++) {
        const TYPE start = operators[i] == SHMEM_CMP_LT || operators[i] == SHMEM_CMP_LE ? (TYPE)9 : (TYPE)3;
        const TYPE limit = operators[i] == SHMEM_CMP_NE ? start : (TYPE)5;
        const TYPE wake = operators[i] == SHMEM_CMP_GT ? (TYPE)6 : operators[i] == SHMEM_CMP_LT ? (TYPE)4 : (TYPE)5;
        *word = start;
        shmem_barrier_all();
        CHECK(shmem_TYPENAME_test(word, operators[i], limit) == 0 || npes == 1 || *word == wake);
        switch (i % 3) {
#ifdef HAVE_shmem_TYPENAME_p
        case 0: shmem_TYPENAME_p(word, wake, next); break;
#endif
#ifdef HAVE_shmem_TYPENAME_atomic_set
        case 1: shmem_TYPENAME_atomic_set(word, wake, next); break;
#endif
        default: {
            TYPE *theirs = shmem_ptr(word, next);
            if (theirs != NULL) __atomic_store_n(theirs, wake, __ATOMIC_RELEASE);
            else shmem_putmem(word, &wake, sizeof wake, next);
        }
        }
        shmem_quiet();
        shmem_TYPENAME_wait_until(word, operators[i], limit);
        CHECK(*word == wake);
        CHECK(shmem_TYPENAME_test(word, operators[i], limit) != 0);
        shmem_barrier_all();
    }
}
//@end

//@each shmem_TYPENAME_wait
static void deprecated_TYPENAME(void) {
    static TYPE word = 8;
    shmem_barrier_all();
    TYPE value = 9;
    shmem_putmem(&word, &value, sizeof value, (me + 1) % npes);
    shmem_quiet();
    shmem_TYPENAME_wait(&word, (TYPE)8);
    CHECK(word == 9);
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
    void *block = symmetric(64);
//@each shmem_TYPENAME_wait_until shmem_TYPENAME_test
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
//@each shmem_TYPENAME_wait
    deprecated_TYPENAME();
//@end
#if defined HAVE_shmem_wait && defined HAVE_shmem_wait_until
    static long word;
    shmem_barrier_all();
    shmem_long_p(&word, 4, (me + 1) % npes);
    shmem_wait(&word, 0);
    CHECK(word == 4);
    shmem_barrier_all();
    shmem_long_p(&word, 5, (me + 1) % npes);
    (shmem_wait_until)(&word, SHMEM_CMP_GT, 4);
    CHECK(word == 5);
#endif
    shmem_free(block);
    return end();
}

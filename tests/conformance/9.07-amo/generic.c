/* 9.7 in C11, and by the overloads of C++: the type-generic atomics, with and without a leading context.
 * pes: 2
 * cflags: -std=gnu11
 * also: c++
 * needs: shmem_long_atomic_fetch_add
 */
#include "check.h"

//@each shmem_TYPENAME_atomic_swap
static void common_TYPENAME(void) {
    static TYPE word;
    int target = (me + 1) % npes;
    const TYPE *readable = &word;
    shmem_atomic_set(&word, (TYPE)5, target);
    shmem_atomic_set(SHMEM_CTX_DEFAULT, &word, (TYPE)6, target);
    shmem_quiet();
    CHECK(shmem_atomic_fetch(readable, target) == (TYPE)6);
    CHECK(shmem_atomic_fetch(SHMEM_CTX_DEFAULT, &word, target) == (TYPE)6);
    CHECK(shmem_atomic_swap(&word, (TYPE)7, target) == (TYPE)6);
    CHECK(shmem_atomic_swap(SHMEM_CTX_DEFAULT, &word, (TYPE)8, target) == (TYPE)7);
#ifdef HAVE_shmem_TYPENAME_atomic_swap_nbi
    TYPE old = 0;
    shmem_atomic_fetch_nbi(&old, readable, target);
    shmem_quiet();
    CHECK(old == (TYPE)8);
    shmem_atomic_fetch_nbi(SHMEM_CTX_DEFAULT, &old, &word, target);
    shmem_atomic_swap_nbi(&old, &word, (TYPE)9, target);
    shmem_quiet();
    CHECK(old == (TYPE)8);
    shmem_atomic_swap_nbi(SHMEM_CTX_DEFAULT, &old, &word, (TYPE)10, target);
    shmem_quiet();
    CHECK(old == (TYPE)9);
#endif
    shmem_barrier_all();
}
//@end
//@each shmem_TYPENAME_atomic_fetch_add
static void arithmetic_TYPENAME(void) {
    static TYPE word;
    int target = (me + 1) % npes;
    shmem_atomic_inc(&word, target);
    shmem_atomic_inc(SHMEM_CTX_DEFAULT, &word, target);
    shmem_atomic_add(&word, (TYPE)3, target);
    shmem_atomic_add(SHMEM_CTX_DEFAULT, &word, (TYPE)3, target);
    shmem_quiet();
    CHECK(shmem_atomic_fetch_inc(&word, target) == 8);
    CHECK(shmem_atomic_fetch_inc(SHMEM_CTX_DEFAULT, &word, target) == 9);
    CHECK(shmem_atomic_fetch_add(&word, (TYPE)5, target) == 10);
    CHECK(shmem_atomic_fetch_add(SHMEM_CTX_DEFAULT, &word, (TYPE)5, target) == 15);
    CHECK(shmem_atomic_compare_swap(&word, (TYPE)20, (TYPE)1, target) == 20);
    CHECK(shmem_atomic_compare_swap(SHMEM_CTX_DEFAULT, &word, (TYPE)1, (TYPE)2, target) == 1);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_add_nbi
    TYPE old = 0;
    shmem_atomic_fetch_add_nbi(&old, &word, (TYPE)1, target);
    shmem_quiet();
    CHECK(old == 2);
    shmem_atomic_fetch_add_nbi(SHMEM_CTX_DEFAULT, &old, &word, (TYPE)1, target);
    shmem_quiet();
    CHECK(old == 3);
    shmem_atomic_fetch_inc_nbi(&old, &word, target);
    shmem_quiet();
    CHECK(old == 4);
    shmem_atomic_fetch_inc_nbi(SHMEM_CTX_DEFAULT, &old, &word, target);
    shmem_quiet();
    CHECK(old == 5);
    shmem_atomic_compare_swap_nbi(&old, &word, (TYPE)6, (TYPE)1, target);
    shmem_quiet();
    CHECK(old == 6);
    shmem_atomic_compare_swap_nbi(SHMEM_CTX_DEFAULT, &old, &word, (TYPE)6, (TYPE)9, target);
    shmem_quiet();
    CHECK(old == 1);
#endif
    shmem_barrier_all();
}
//@end
//@each shmem_TYPENAME_atomic_fetch_and
static void bitwise_TYPENAME(void) {
    static TYPE word;
    int target = (me + 1) % npes;
    shmem_atomic_or(&word, (TYPE)0xf0, target);
    shmem_atomic_or(SHMEM_CTX_DEFAULT, &word, (TYPE)0x0f, target);
    shmem_atomic_and(&word, (TYPE)0x7f, target);
    shmem_atomic_and(SHMEM_CTX_DEFAULT, &word, (TYPE)0xfe, target);
    shmem_atomic_xor(&word, (TYPE)0x80, target);
    shmem_atomic_xor(SHMEM_CTX_DEFAULT, &word, (TYPE)0x01, target);
    shmem_quiet();
    CHECK(shmem_atomic_fetch_and(&word, (TYPE)0xf0, target) == 0xff);
    CHECK(shmem_atomic_fetch_and(SHMEM_CTX_DEFAULT, &word, (TYPE)0x30, target) == 0xf0);
    CHECK(shmem_atomic_fetch_or(&word, (TYPE)1, target) == 0x30);
    CHECK(shmem_atomic_fetch_or(SHMEM_CTX_DEFAULT, &word, (TYPE)2, target) == 0x31);
    CHECK(shmem_atomic_fetch_xor(&word, (TYPE)1, target) == 0x33);
    CHECK(shmem_atomic_fetch_xor(SHMEM_CTX_DEFAULT, &word, (TYPE)2, target) == 0x32);
#ifdef HAVE_shmem_TYPENAME_atomic_fetch_or_nbi
    TYPE old = 0;
    shmem_atomic_fetch_and_nbi(&old, &word, (TYPE)0x10, target);
    shmem_quiet();
    CHECK(old == 0x30);
    shmem_atomic_fetch_and_nbi(SHMEM_CTX_DEFAULT, &old, &word, (TYPE)0, target);
    shmem_quiet();
    CHECK(old == 0x10);
    shmem_atomic_fetch_or_nbi(&old, &word, (TYPE)1, target);
    shmem_quiet();
    CHECK(old == 0);
    shmem_atomic_fetch_or_nbi(SHMEM_CTX_DEFAULT, &old, &word, (TYPE)2, target);
    shmem_quiet();
    CHECK(old == 1);
    shmem_atomic_fetch_xor_nbi(&old, &word, (TYPE)2, target);
    shmem_quiet();
    CHECK(old == 3);
    shmem_atomic_fetch_xor_nbi(SHMEM_CTX_DEFAULT, &old, &word, (TYPE)1, target);
    shmem_quiet();
    CHECK(old == 1);
#endif
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
//@each shmem_TYPENAME_atomic_swap
    common_TYPENAME();
//@end
//@each shmem_TYPENAME_atomic_fetch_add
    arithmetic_TYPENAME();
//@end
//@each shmem_TYPENAME_atomic_fetch_and
    bitwise_TYPENAME();
//@end
    return end();
}

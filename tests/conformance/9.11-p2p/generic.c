/* 9.11 in C11, and by the overloads of C++: the type-generic waits and tests select by the type of the variable;
 * shmem_wait_until of a long is the deprecated function and the macro at once.
 * pes: 1
 * cflags: -std=gnu11
 * also: c++
 * needs: shmem_long_wait_until shmem_long_test shmem_long_wait_until_all_vector
 */
#include "check.h"

//@each shmem_TYPENAME_wait_until shmem_TYPENAME_test
static void plain_TYPENAME(void) {
    static TYPE word = (TYPE)-2;
    shmem_wait_until(&word, SHMEM_CMP_EQ, (TYPE)-2);
    CHECK(shmem_test(&word, SHMEM_CMP_LT, (TYPE)-1));
    CHECK(!!shmem_test(&word, SHMEM_CMP_GT, (TYPE)1) == (((TYPE)-1) > 0));
}
//@end
//@each shmem_TYPENAME_wait_until_all
static void arrays_TYPENAME(void) {
    static TYPE words[4] = {1, 2, 3, 4};
    const TYPE values[4] = {1, 2, 3, 4};
    const int status[4] = {1, 0, 0, 0};
    size_t indices[4];
    shmem_wait_until_all(words, 4, status, SHMEM_CMP_GE, (TYPE)2);
    CHECK(shmem_wait_until_any(words, 4, NULL, SHMEM_CMP_EQ, (TYPE)3) == 2);
    CHECK(shmem_wait_until_some(words, 4, indices, status, SHMEM_CMP_LE, (TYPE)3) == 2);
    shmem_wait_until_all_vector(words, 4, NULL, SHMEM_CMP_EQ, values);
    CHECK(shmem_wait_until_any_vector(words, 4, status, SHMEM_CMP_EQ, values) >= 1);
    CHECK(shmem_wait_until_some_vector(words, 4, indices, status, SHMEM_CMP_EQ, values) == 3);
    CHECK(shmem_test_all(words, 4, NULL, SHMEM_CMP_GT, (TYPE)0) == 1);
    CHECK(shmem_test_any(words, 4, NULL, SHMEM_CMP_GT, (TYPE)4) == SIZE_MAX);
    CHECK(shmem_test_some(words, 4, indices, NULL, SHMEM_CMP_NE, (TYPE)4) == 3);
    CHECK(shmem_test_all_vector(words, 4, NULL, SHMEM_CMP_EQ, values) == 1);
    CHECK(shmem_test_any_vector(words, 4, NULL, SHMEM_CMP_NE, values) == SIZE_MAX);
    CHECK(shmem_test_some_vector(words, 4, indices, status, SHMEM_CMP_EQ, values) == 3);
}
//@end

int main(void) {
    begin();
//@each shmem_TYPENAME_wait_until shmem_TYPENAME_test
    plain_TYPENAME();
//@end
//@each shmem_TYPENAME_wait_until_all
    arrays_TYPENAME();
//@end
    static long word = 3;
    void (*function)(long *, int, long) = shmem_wait_until;
    function(&word, SHMEM_CMP_EQ, 3);
    return end();
}

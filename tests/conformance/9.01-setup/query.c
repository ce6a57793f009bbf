/* 9.1.1 to 9.1.4, 9.1.7, 9.1.8, 9.1.11, 9.1.12: numbers of PEs, accessibility, version and name; static initial values
 * survive init; deprecated names.
 * pes: 1 2 3 4 7 16
 * needs: shmem_malloc shmem_pe_accessible shmem_addr_accessible shmem_info_get_version shmem_info_get_name
 */
#include "check.h"

static long initialized[4] = {10, 20, 30, 40};
static long zeroed[1000];
static const long constant = 5;

int main(int count, char **arguments) {
    initialized[3] += count;
    begin();
    CHECK(arguments[0] != NULL);
    CHECK(initialized[0] == 10 && initialized[3] == 40 + count && zeroed[999] == 0 && constant == 5);
    CHECK_EQ(shmem_long_g(&initialized[1], (me + 1) % npes), 20);
    long *heap = symmetric(800);
    long local = 0;
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shmem_pe_accessible(pe), 1);
        CHECK_EQ(shmem_addr_accessible(&initialized[2], pe), 1);
        CHECK_EQ(shmem_addr_accessible(&zeroed[999], pe), 1);
        CHECK_EQ(shmem_addr_accessible(heap, pe), 1);
        CHECK_EQ(shmem_addr_accessible(heap + 99, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&local, pe), 0);
        CHECK_EQ(shmem_addr_accessible(NULL, pe), 0);
        CHECK_EQ(shmem_addr_accessible((void *)main, pe), 0);
    }
    CHECK_EQ(shmem_pe_accessible(-1), 0);
    CHECK_EQ(shmem_pe_accessible(npes), 0);
    CHECK_EQ(shmem_addr_accessible(heap, npes), 0);
    CHECK_EQ(shmem_addr_accessible(heap, -1), 0);
    void *private = malloc(64);
    CHECK_EQ(shmem_addr_accessible(private, me), 0);
    free(private);
    int major = -1, minor = -1;
    shmem_info_get_version(&major, &minor);
    CHECK_EQ(major, SHMEM_MAJOR_VERSION);
    CHECK_EQ(minor, SHMEM_MINOR_VERSION);
    CHECK_EQ(major, 1);
    CHECK_EQ(minor, 6);
    char name[SHMEM_MAX_NAME_LEN + 1];
    memset(name, 'x', sizeof name);
    shmem_info_get_name(name);
    CHECK(memchr(name, 0, SHMEM_MAX_NAME_LEN) != NULL);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
    CHECK(name[SHMEM_MAX_NAME_LEN] == 'x');
#if defined HAVE__my_pe && defined HAVE__num_pes
    CHECK(_my_pe() == me && _num_pes() == npes);
#endif
    /* Each PE number occurs once. */
    int *seen = symmetric(sizeof(int) * (size_t)npes);
    memset(seen, 0, sizeof(int) * (size_t)npes);
    shmem_barrier_all();
    shmem_int_atomic_inc(&seen[me], 0);
    shmem_barrier_all();
    if (me == 0) for (int pe = 0; pe < npes; pe++) CHECK_EQ(seen[pe], 1);
    return end();
}

/* 9.1.9: shmem_ptr gives a pointer for every PE of the host, for heap and static objects and for addresses within; to
 * itself the address as it is; stores through it are seen by loads, get and wait on the other side.
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_ptr shmem_long_wait_until
 */
#include "check.h"

static long fixed[16];
static long flag;

static void try_block(long *block) {
    for (int k = 0; k < 16; k++) block[k] = -1;
    CHECK(shmem_ptr(block, me) == block);
    CHECK(shmem_ptr(block + 5, me) == block + 5);
    flag = 0;
    shmem_barrier_all();
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    long *theirs = shmem_ptr(block, next);
    if (host_size() < npes) {
        /* Other hosts have no common memory; what is on this one is read and written below by jobs of one host. */
        CHECK((theirs != NULL) == on_this_host(next));
        shmem_barrier_all();
        return;
    }
    CHECKF(theirs != NULL, "PE %d on the same host", next);
    CHECK((char *)shmem_ptr(block + 5, next) == (char *)(theirs + 5));
    for (int k = 0; k < 16; k++) theirs[k] = me * 100 + k;
    long *their_flag = shmem_ptr(&flag, next);
    CHECK(their_flag != NULL);
    __atomic_store_n(their_flag, 1, __ATOMIC_RELEASE);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    for (int k = 0; k < 16; k++) CHECK_EQ(block[k], before * 100 + k);
    for (int k = 0; k < 16; k++) CHECK_EQ(shmem_long_g(&block[k], next), me * 100 + k);
    shmem_barrier_all();
    /* And the other way round: what a put writes, a load through the pointer sees. */
    shmem_long_p(block, 4242 + me, next);
    shmem_quiet();
    CHECK_EQ(*(volatile long *)theirs, 4242 + me);
    shmem_barrier_all();
}

int main(void) {
    begin();
    long *heap = symmetric(16 * sizeof(long));
    try_block(heap);
    try_block(fixed);
    long local;
    CHECK(shmem_ptr(&local, (me + 1) % npes) == NULL || npes == 1);
    return end();
}

/* 9.13: set_lock excludes, clear_lock completes the holder's updates first, test_lock takes a free lock and refuses a
 * held one; static and heap locks; everyone gets the lock in time.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_set_lock shmem_clear_lock shmem_test_lock
 */
#include "check.h"

static long lock;
static long counter, inside;

int main(void) {
    begin();
    long *heap_lock = symmetric(sizeof(long)), *turns = symmetric(sizeof(long) * (size_t)npes);
    *heap_lock = 0;
    for (int pe = 0; pe < npes; pe++) turns[pe] = 0;
    shmem_barrier_all();
    int rounds = npes > 4 ? 100 : 1000;
    for (int k = 0; k < rounds; k++) {
        shmem_set_lock(&lock);
        CHECK_EQ(shmem_long_atomic_fetch_inc(&inside, 0), 0);
        /* Not atomic: only the lock, and the quiet that its release implies, keep the count right. */
        long value = shmem_long_g(&counter, npes - 1);
        shmem_long_p(&counter, value + 1, npes - 1);
        shmem_long_atomic_add(&inside, -1, 0);
        shmem_clear_lock(&lock);
        while (shmem_test_lock(heap_lock) != 0) {}
        shmem_long_p(&turns[me], k + 1, 0);
        shmem_clear_lock(heap_lock);
    }
    shmem_barrier_all();
    if (me == npes - 1) CHECK_EQ(counter, (long)rounds * npes);
    if (me == 0) {
        for (int pe = 0; pe < npes; pe++) CHECK_EQ(turns[pe], rounds);
        CHECK_EQ(shmem_test_lock(&lock), 0);
    }
    shmem_barrier_all();
    if (me != 0) CHECK_EQ(shmem_test_lock(&lock), 1);
    shmem_barrier_all();
    if (me == 0) shmem_clear_lock(&lock);
    shmem_barrier_all();
    /* What the word holds after use is the library's; zeroed everywhere it is a new lock. */
    lock = 0;
    shmem_barrier_all();
    if (me == npes - 1) CHECK_EQ(shmem_test_lock(&lock), 0);
    shmem_barrier_all();
    if (me == npes - 1) shmem_clear_lock(&lock);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    return end();
}

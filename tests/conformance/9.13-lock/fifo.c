/* 9.13: waiting PEs get the lock in the order in which they came.
 * pes: 3 4 7
 * needs: shmem_set_lock shmem_clear_lock shmem_long_atomic_fetch_inc
 */
#include "check.h"

static long lock, place, order[64], came;

int main(void) {
    begin();
    for (int round = 0; round < 3; round++) {
        shmem_barrier_all();
        place = 0;
        came = 0;
        if (me == 0) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me != 0) {
            /* One after another, with time enough between to have entered the queue. */
            shmem_long_wait_until(&came, SHMEM_CMP_EQ, me);
            usleep(20000);
            for (int pe = 0; pe < npes; pe++) shmem_long_atomic_set(&came, me + 1, pe);
            shmem_quiet();
            shmem_set_lock(&lock);
            shmem_long_p(&order[shmem_long_atomic_fetch_inc(&place, 0)], me, 0);
            shmem_clear_lock(&lock);
        } else {
            for (int pe = 0; pe < npes; pe++) shmem_long_atomic_set(&came, 1, pe);
            shmem_long_wait_until(&came, SHMEM_CMP_EQ, npes);
            usleep(30000);
            CHECK_EQ(place, 0);
            shmem_clear_lock(&lock);
        }
        shmem_barrier_all();
        if (me == 0) for (int k = 1; k < npes; k++) CHECKF(order[k - 1] == k, "place %d went to PE %ld", k,
                                                           order[k - 1]);
    }
    return end();
}

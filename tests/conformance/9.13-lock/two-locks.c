/* 9.13: different locks are independent: while one PE holds one, the others take another.
 * pes: 2 3 4
 * needs: shmem_set_lock shmem_clear_lock
 */
#include "check.h"

static long a, b;
static long taken;

int main(void) {
    begin();
    if (me == 0) shmem_set_lock(&a);
    shmem_barrier_all();
    if (me != 0) {
        for (int k = 0; k < 100; k++) {
            shmem_set_lock(&b);
            shmem_clear_lock(&b);
        }
        shmem_long_atomic_inc(&taken, 0);
        shmem_set_lock(&a);
        shmem_clear_lock(&a);
    } else {
        shmem_long_wait_until(&taken, SHMEM_CMP_EQ, npes - 1);
        shmem_clear_lock(&a);
    }
    return end();
}

/* 9.1.6: what other PEs have written before one calls global_exit is not lost where they wait in the library, in
 * buffered streams as well.
 * pes: 3 4
 * status: 7
 * expect: from PE 0
 * expect: from PE 1
 * needs: shmem_global_exit
 */
#include "check.h"

int main(void) {
    static long never;
    begin();
    shmem_barrier_all();
    if (me == npes - 1) {
        usleep(50000);
        shmem_global_exit(7);
    }
    printf("from PE %d ", me);
    if (me % 2) shmem_barrier_all();
    shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
}

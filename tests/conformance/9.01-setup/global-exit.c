/* 9.1.6: global_exit of one PE ends all, wherever they are, with its status; standard output is flushed.
 * pes: 1 2 3 4
 * status: 7
 * expect: last words
 * needs: shmem_global_exit
 */
#include "check.h"

int main(void) {
    begin();
    if (me == npes - 1) {
        usleep(20000);
        printf("last words");
        shmem_global_exit(7);
    }
    if (me % 2) shmem_barrier_all();
    for (volatile long k = 0;; k++) {}
}

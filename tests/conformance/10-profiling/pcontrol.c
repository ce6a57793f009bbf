/* 10.1.1: pcontrol takes any level, with and without further arguments, from any state, and changes no result.
 * pes: 1 2 3 4
 * needs: shmem_pcontrol shmem_long_p shmem_long_g
 */
#include "check.h"

static long word;

int main(void) {
    begin();
    int next = (me + 1) % npes;
    static const int levels[] = {1, 0, -1, 2, 1, 0, 2, 1};
    for (int i = 0; i < 8; i++) {
        shmem_pcontrol(levels[i]);
        shmem_long_p(&word, me * 10 + i, next);
        shmem_quiet();
        CHECK_EQ(shmem_long_g(&word, next), me * 10 + i);
        shmem_barrier_all();
    }
    /* Arguments that the level does not use. */
    shmem_pcontrol(1, "unused", 3.0, 4);
    shmem_pcontrol(0);
    return end();
}

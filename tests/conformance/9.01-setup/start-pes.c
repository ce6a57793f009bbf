/* 9.1.13: start_pes ignores its argument and repeats, and finalizes at exit, collectively: what a PE puts just before
 * it leaves main arrives.
 * pes: 1 2 3 4
 * expect: seen
 * needs: start_pes shmem_long_p shmem_long_wait_until
 */
#include "check.h"

static long word;

int main(void) {
    start_pes(100000);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECKF(npes < 1000, "start_pes must ignore its argument: %d PEs", npes);
    start_pes(0);
    start_pes(-5);
    CHECK(shmem_my_pe() == me && shmem_n_pes() == npes);
    if (me == npes - 1) usleep(50000);
    shmem_long_p(&word, 7, (me + 1) % npes);
    if (me == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 7);
        printf("seen\n");
    }
    return 0;
}

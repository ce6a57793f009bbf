/* 9.11, 9.12: 100000 flag hand-offs, 20000 between hosts, round a ring with put, fence and flag, with waits of
 * different widths; PEs may outnumber the cores.
 * pes: 2 3 16
 * limit: 100
 * needs: shmem_long_wait_until shmem_int_wait_until shmem_fence
 */
#include "check.h"

static long data;
static int flag;

int main(void) {
    begin();
    int laps = (host_pes() < npes ? 20000 : 100000) / npes, next = (me + 1) % npes;
    for (int lap = 1; lap <= laps; lap++) {
        if (me != 0 || lap > 1) {
            int expected = me == 0 ? lap - 1 : lap;
            shmem_int_wait_until(&flag, SHMEM_CMP_GE, expected);
            CHECKF(data == (long)expected * 3, "lap %d: %ld", lap, data);
        }
        shmem_long_p(&data, (long)lap * 3, next);
        shmem_fence();
        shmem_int_p(&flag, lap, next);
    }
    shmem_barrier_all();
    CHECK_EQ(flag, laps);
    return end();
}

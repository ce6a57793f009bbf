/* 9.8.3: 100000 hand-offs, 20000 between hosts, round a ring: the payload of each put with signal is visible before its
 * signal, signals do not get lost or overtake each other.
 * pes: 2 3 4 16
 * limit: 100
 * needs: shmem_long_put_signal shmem_signal_wait_until
 */
#include "check.h"

static long box[8];
static uint64_t arrived;

int main(void) {
    begin();
    long hops = host_pes() < npes ? 20000 : 100000, laps = hops / npes;
    int next = (me + 1) % npes;
    long load[8];
    for (long lap = 1; lap <= laps; lap++) {
        if (me != 0 || lap > 1) {
            uint64_t expected = (uint64_t)(me == 0 ? lap - 1 : lap);
            shmem_signal_wait_until(&arrived, SHMEM_CMP_GE, expected);
            CHECKF(shmem_signal_fetch(&arrived) == expected, "lap %ld", lap);
            for (int k = 0; k < 8; k++) CHECKF(box[k] == (long)expected * 8 + k, "lap %ld: element %d", lap, k);
        }
        for (int k = 0; k < 8; k++) load[k] = lap * 8 + k;
        if (lap % 2)
            shmem_long_put_signal(box, load, 8, &arrived, (uint64_t)lap, SHMEM_SIGNAL_SET, next);
        else
            shmem_long_put_signal(box, load, 8, &arrived, 1, SHMEM_SIGNAL_ADD, next);
    }
    shmem_barrier_all();
    CHECK_EQ(arrived, laps);
    return end();
}

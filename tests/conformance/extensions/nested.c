/* A finalize that is not the last leaves under way what has been begun, as a barrier does: a nonblocking collective
 * that one PE has begun before it and the others begin after it is one and the same.
 * pes: 1 2 3 5
 */
#include "check.h"

#include <shmemx.h>

static long one = 1, sum;

int main(void) {
    begin();
    shmem_init();
    shmemx_req_h requests[2];
    for (int turn = 0; turn < 2; turn++) {
        if ((me == 0) == (turn == 0)) {
            CHECK_EQ(shmemx_team_sync_nb(SHMEM_TEAM_WORLD, &requests[0]), 0);
            CHECK_EQ(shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, &sum, &one, 1, &requests[1]), 0);
        }
        if (turn == 0) shmem_finalize();
    }
    for (int k = 0; k < 2; k++) CHECK_EQ(shmemx_req_wait(&requests[k]), 0);
    CHECK_EQ(sum, npes);
    return end();
}

/* A client with handlers of its own, and nonblocking collectives of OpenSHMEM: they go on while rank 0 computes,
 * without a call of the library, until all others have come out of them. */
#define _DEFAULT_SOURCE
#include "job.h"
#include <shmemx.h>
#include <unistd.h>

#define ROUNDS 5
#define COUNT 100

static long target[COUNT], source[COUNT], through;

static void nothing(gex_Token_t token)
{
    (void)token;
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {{200, (gex_AM_Fn_t)nothing, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "nothing"}};
    begin(argc, argv, table, 1, 1);
    shmem_init();
    for (int round = 0; round < ROUNDS; round++) {
        shmemx_req_h request;
        for (int i = 0; i < COUNT; i++)
            source[i] = (long)me + round + i;
        shmem_barrier_all();
        CHECK(shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, target, source, COUNT, &request) == 0);
        while (me == 0 && __atomic_load_n(&through, __ATOMIC_ACQUIRE) < (round + 1L) * (size - 1))
            usleep(100);
        CHECK(shmemx_req_wait(&request) == 0);
        for (int i = 0; i < COUNT; i++)
            CHECK(target[i] == (long)size * (round + i) + (long)size * (size - 1) / 2);
        if (me != 0)
            shmem_long_atomic_inc(&through, 0);
        shmem_quiet();
    }
    shmem_finalize();
    return finish();
}

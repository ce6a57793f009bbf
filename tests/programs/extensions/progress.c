/* Nonblocking collectives go on while their root computes, without a call of the library, until all others have come
 * out of them: a thread moves them on. */
#include <shmemx.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 1 << 17, ROUNDS = 10 };

static char target[MOST], source[MOST];
static long through;

int main(void) {
    begin();
    long expected = 0;
    for (int round = 0; round < ROUNDS; round++) for (size_t bytes = 8; bytes <= MOST; bytes *= 128) {
        for (size_t i = 0; i < bytes; i++) source[i] = (char)(round + (int)i % 100);
        shmem_barrier_all();
        expected += npes - 1;
        shmemx_req_h request;
        CHECK_EQ(shmemx_char_broadcast_nb(SHMEM_TEAM_WORLD, target, source, bytes, 0, &request), 0);
        if (me == 0) while (__atomic_load_n(&through, __ATOMIC_ACQUIRE) < expected) usleep(100);
        CHECK_EQ(shmemx_req_wait(&request), 0);
        for (size_t i = 0; me != 0 && i < bytes; i++) CHECK_EQ(target[i], (char)(round + (int)i % 100));
        if (me != 0) shmem_long_atomic_inc(&through, 0);
        shmem_quiet();
    }
    return end();
}

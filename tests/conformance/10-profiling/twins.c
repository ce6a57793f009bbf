/* 10: every routine has its name-shifted twin: here the ones a profiling tool calls most, through pshmem.h.
 * pes: 1 2
 * needs: shmem_long_put shmem_long_get shmem_long_p shmem_long_atomic_fetch_add
 */
#include <pshmem.h>

#include "check.h"

static long word[4];

int main(void) {
    pshmem_init();
    me = pshmem_my_pe();
    npes = pshmem_n_pes();
    int next = (me + 1) % npes;
    long values[4] = {1, 2, 3, 4}, back[4] = {0};
    pshmem_long_put(word, values, 4, next);
    pshmem_quiet();
    pshmem_long_get(back, word, 4, next);
    CHECK(memcmp(values, back, sizeof values) == 0);
    pshmem_barrier_all();
    pshmem_long_p(&word[1], 9, next);
    pshmem_barrier_all();
    CHECK_EQ(pshmem_long_atomic_fetch_add(&word[1], 1, me), 9);
    pshmem_pcontrol(1);
    pshmem_barrier_all();
    pshmem_finalize();
    return 0;
}

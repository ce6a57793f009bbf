/* Where the provider makes atomics, puts to PEs of this host are stores all the same: a fence is between both. */
#include <shmem.h>
#include <stdio.h>

enum { TURNS = 500 };
static long word;
static uint64_t signal_word;
static long data[64];

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), wrong = 0;
    const long mine[64] = {me + 1};
    for (long turn = 1; turn <= TURNS; turn++) {
        shmem_long_atomic_set(&word, -turn, me);
        shmem_fence();
        shmem_long_p(&word, turn, me);
        shmem_quiet();
        if (word != turn) wrong++;
        shmem_long_put_signal(data, mine, 64, &signal_word, 1, SHMEM_SIGNAL_ADD, me);
        shmem_fence();
        shmem_long_p(data, -turn, me);
        shmem_quiet();
        if (data[0] != -turn || signal_word != (uint64_t)turn) wrong++;
    }
    if (wrong > 0) fprintf(stderr, "PE %d: %d of %d are out of order\n", me, wrong, 2 * TURNS);
    shmem_finalize();
    return wrong > 0;
}

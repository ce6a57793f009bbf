/* 9.8 in C11, and by the overloads of C++: put_signal and put_signal_nbi select by the type of the destination, with
 * and without a context.
 * pes: 2
 * cflags: -std=gnu11
 * also: c++
 * needs: shmem_long_put_signal shmem_long_put_signal_nbi shmem_sync_all
 */
#include "check.h"

static uint64_t signal_word;

//@each shmem_TYPENAME_put_signal shmem_TYPENAME_put_signal_nbi
static void run_TYPENAME(void) {
    static TYPE block[4];
    const TYPE source[4] = {(TYPE)1, (TYPE)2, (TYPE)3, (TYPE)4};
    int next = (me + 1) % npes;
    signal_word = 0;
    shmem_barrier_all();
    shmem_put_signal(&block[0], &source[0], 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_put_signal(SHMEM_CTX_DEFAULT, &block[1], &source[1], 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_put_signal_nbi(&block[2], &source[2], 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_put_signal_nbi(SHMEM_CTX_DEFAULT, &block[3], &source[3], 1, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    shmem_barrier_all();
    CHECK_EQ(signal_word, 4);
    for (int k = 0; k < 4; k++) CHECK(block[k] == source[k]);
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
//@each shmem_TYPENAME_put_signal shmem_TYPENAME_put_signal_nbi
    run_TYPENAME();
//@end
    return end();
}

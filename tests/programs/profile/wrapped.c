/* Three of four updates are histo's and one is scan's, in turns; both go through a function of their own. */
#include <shmem.h>
#include <stdlib.h>

static long counters[64];

__attribute__((noinline)) static void lgp_atomic_add(long index, long value) {
    shmem_long_atomic_add(&counters[index % 64], value, (int)(index % shmem_n_pes()));
    __asm__ volatile(""); /* Not the last of it: a jump would leave no trace. */
}

__attribute__((noinline)) static void histo(long turn) {
    for (long i = 0; i < 3; i++) lgp_atomic_add(turn + i, 1);
    __asm__ volatile("");
}

__attribute__((noinline)) static void scan(long turn) {
    lgp_atomic_add(turn, 2);
    __asm__ volatile("");
}

int main(int count, char **arguments) {
    long turns = count > 1 ? atol(arguments[1]) : 1000;
    shmem_init();
    for (long turn = 0; turn < turns; turn++) {
        histo(turn);
        scan(turn);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

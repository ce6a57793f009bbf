/* 9.11.15: signal_wait_until returns the value that satisfied the comparison, for all six comparisons.
 * pes: 1 2 3 4 7 16
 * needs: shmem_signal_wait_until shmem_signal_set
 */
#include "check.h"

static uint64_t word;

int main(void) {
    begin();
    static const struct { int cmp; uint64_t start, limit, wake; } cases[] = {
        {SHMEM_CMP_EQ, 0, 7, 7},
        {SHMEM_CMP_NE, 3, 3, 4},
        {SHMEM_CMP_GT, 0, 0x8000000000000000u, 0x8000000000000001u},
        {SHMEM_CMP_GE, 1, 2, UINT64_MAX},
        {SHMEM_CMP_LT, UINT64_MAX, 9, 1},
        {SHMEM_CMP_LE, UINT64_MAX, 9, 9},
    };
    int next = (me + 1) % npes;
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            word = cases[i].start;
            shmem_barrier_all();
            shmem_signal_set(&word, cases[i].wake, next);
            shmem_quiet();
            CHECK(shmem_signal_wait_until(&word, cases[i].cmp, cases[i].limit) == cases[i].wake);
            shmem_barrier_all();
        }
    }
    return end();
}

/* 9.8.5, 9.8.6, 9.8.7: signal_add, signal_set and signal_fetch with and without context; concurrent additions are
 * exact; the names are functions and, in C11, macros of 3 or 4 arguments.
 * pes: 1 2 3 4 7 16
 * cflags: -std=gnu11
 * needs: shmem_signal_add shmem_signal_set shmem_ctx_signal_add shmem_ctx_signal_set shmem_signal_fetch
 */
#include "check.h"

static uint64_t sum, word;

int main(void) {
    begin();
    open_contexts();
    uint64_t *heap = symmetric(sizeof *heap);
    *heap = 0;
    shmem_barrier_all();
    for (int k = 0; k < 500; k++) {
        shmem_signal_add(&sum, (uint64_t)me + 1, 0);
        shmem_ctx_signal_add(SHMEM_CTX_DEFAULT, heap, 2, npes - 1);
    }
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(shmem_signal_fetch(&sum), 500l * npes * (npes + 1) / 2);
    if (me == npes - 1) CHECK_EQ(shmem_signal_fetch(heap), 1000l * npes);
    int next = (me + 1) % npes;
    for (int c = 0; c < ncontexts; c++) {
        shmem_signal_set(&word, 0xfedcba9876543210u, next);
        shmem_barrier_all();
        CHECK(shmem_signal_fetch(&word) == 0xfedcba9876543210u);
        shmem_barrier_all();
        shmem_ctx_signal_set(contexts[c], &word, (uint64_t)c + 1, next);
        shmem_ctx_signal_add(contexts[c], &word, 10, next);
        shmem_ctx_quiet(contexts[c]);
        shmem_barrier_all();
        CHECK(shmem_signal_fetch(&word) == (uint64_t)c + 11);
        shmem_barrier_all();
    }
    /* The macro forms, and the functions behind them. */
    shmem_signal_set(SHMEM_CTX_DEFAULT, &word, 5, next);
    shmem_signal_add(SHMEM_CTX_DEFAULT, &word, 5, next);
    void (*add)(uint64_t *, uint64_t, int) = shmem_signal_add;
    void (*set)(uint64_t *, uint64_t, int) = shmem_signal_set;
    shmem_barrier_all();
    CHECK(word == 10);
    shmem_barrier_all();
    set(&word, 1, next);
    add(&word, 1, next);
    (shmem_signal_add)(&word, 1, next);
    shmem_barrier_all();
    CHECK(word == 3);
    close_contexts();
    return end();
}

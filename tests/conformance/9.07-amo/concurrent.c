/* 9.7, 3.2: atomics of all PEs on one word: totals are exact, fetched tickets are each seen once, a compare-swap loop
 * loses no update, also when the target itself takes part; static and heap words.
 * pes: 2 3 4 7 16
 * needs: shmem_malloc shmem_long_atomic_fetch_inc shmem_uint64_atomic_compare_swap shmem_int_atomic_add
 */
#include "check.h"

/* Enough to last longer than a time slice: the PEs must really meet. */
enum { ROUNDS = 100000 };

static long ticket;
static uint64_t product;
static int sum;

int main(void) {
    begin();
    int rounds = fewer(npes > 4 ? ROUNDS / 4 : ROUNDS);
    char *taken = symmetric((size_t)npes * (size_t)rounds);
    memset(taken, 0, (size_t)npes * (size_t)rounds);
    uint64_t *heap = symmetric(sizeof *heap);
    *heap = 0;
    product = 1;
    shmem_barrier_all();
    for (int k = 0; k < rounds; k++) {
        if (k % (rounds / 10) == 0) shmem_barrier_all();
        long mine = shmem_long_atomic_fetch_inc(&ticket, npes - 1);
        CHECKF(mine >= 0 && mine < (long)npes * rounds, "ticket %ld", mine);
        char one = 1;
        shmem_putmem(&taken[mine], &one, 1, 0);
        shmem_int_atomic_add(&sum, me + 1, 0);
        uint64_t seen = shmem_uint64_atomic_fetch(heap, 0), old;
        while ((old = shmem_uint64_atomic_compare_swap(heap, seen, seen + 3, 0)) != seen) seen = old;
        old = shmem_uint64_atomic_fetch(&product, 0);
        while ((seen = shmem_uint64_atomic_compare_swap(&product, old, old * 3, 0)) != old) old = seen;
    }
    shmem_barrier_all();
    if (me == 0) {
        for (long k = 0; k < (long)npes * rounds; k++) CHECKF(taken[k] == 1, "ticket %ld not taken", k);
        CHECK_EQ(sum, (long)rounds * npes * (npes + 1) / 2);
        CHECK_EQ(*heap, 3ul * (unsigned long)rounds * (unsigned long)npes);
        uint64_t expected = 1;
        for (long k = 0; k < (long)npes * rounds; k++) expected *= 3;
        CHECK(product == expected);
    }
    if (me == npes - 1) CHECK_EQ(ticket, (long)npes * rounds);
    return end();
}

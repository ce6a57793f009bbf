/* 9.6 and 9.7: arrays, single values, every second element, blocks of elements; who comes first, swaps, counters,
 * bits. */
#include <shmem.h>
#include <string.h>
#include "must.h"

static void arrays(int me, int n) {
    static double dest[10];
    static short every_other[10];
    int right = (me + 1) % n, left = (me + n - 1) % n;
    double source[10];
    for (int i = 0; i < 10; i++) source[i] = me + i / 10.0;
    shmem_put(dest, source, 10, right);
    short five[5];
    for (int i = 0; i < 5; i++) five[i] = (short)(me * 10 + i);
    shmem_iput(every_other, five, 2, 1, 5, right);
    shmem_barrier_all();
    for (int i = 0; i < 10; i++) MUST(dest[i] == left + i / 10.0);
    for (int i = 0; i < 10; i++) MUST(every_other[i] == (i % 2 == 0 ? left * 10 + i / 2 : 0));
    short back[5];
    shmem_iget(back, every_other, 1, 2, 5, right);
    MUST(memcmp(back, five, sizeof back) == 0);
    shmem_barrier_all();
    /* Blocks of two, three apart, packed on arrival. */
    static long blocks[9], packed[6];
    for (int i = 0; i < 9; i++) blocks[i] = me * 100 + i;
    shmem_ibput(packed, blocks, 2, 3, 2, 3, right);
    shmem_barrier_all();
    static const int which[] = {0, 1, 3, 4, 6, 7};
    for (int i = 0; i < 6; i++) MUST(packed[i] == left * 100 + which[i]);
    float pi = 3.1415927f;
    static float cell = -1;
    shmem_p(&cell, pi, right);
    shmem_barrier_all();
    MUST(shmem_g(&cell, right) == pi && cell == pi);
}

static void atomics(int me, int n) {
    static int winner = -1, counter = 22;
    static long token;
    static unsigned bits;
    int seen = shmem_atomic_compare_swap(&winner, -1, me, 0);
    shmem_barrier_all();
    int first = shmem_g(&winner, 0);
    MUST(first >= 0 && first < n && (seen == -1) == (first == me));
    /* Odd PEs trade tokens with the one on their right. */
    token = me;
    shmem_barrier_all();
    if (me % 2 == 1) {
        int right = (me + 1) % n;
        long theirs = shmem_atomic_swap(&token, (long)me, right);
        MUST(theirs == right);
        token = theirs;
    }
    shmem_barrier_all();
    if (n % 2 == 0) MUST(token == (me % 2 == 1 ? (me + 1) % n : (me + n - 1) % n));
    int before = shmem_atomic_fetch_inc(&counter, 0);
    MUST(before >= 22 && before < 22 + n);
    shmem_barrier_all();
    MUST(shmem_atomic_fetch(&counter, 0) == 22 + n);
    shmem_barrier_all();
    shmem_atomic_add(&counter, me, 0);
    shmem_atomic_or(&bits, 1u << me, 0);
    shmem_barrier_all();
    MUST(shmem_atomic_fetch(&counter, 0) == 22 + n + n * (n - 1) / 2);
    MUST(shmem_atomic_fetch_and(&bits, ~0u, 0) == (1u << n) - 1);
    shmem_barrier_all();
    shmem_atomic_xor(&bits, 1u << me, 0);
    shmem_barrier_all();
    unsigned none = 1;
    shmem_atomic_fetch_nbi(&none, &bits, 0);
    shmem_quiet();
    MUST(none == 0);
    shmem_barrier_all();
    if (me == 0) shmem_atomic_set(&counter, -4, n - 1);
    shmem_barrier_all();
    if (me == n - 1) MUST(counter == -4);
}

int main(void) {
    shmem_init();
    arrays(shmem_my_pe(), shmem_n_pes());
    atomics(shmem_my_pe(), shmem_n_pes());
    shmem_finalize();
    return 0;
}

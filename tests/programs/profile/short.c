/* Loops of short calls that overlap in the processor: short KIND CALLS. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS (1 << 20)
static long counter, sum;

int main(int argc, char **argv) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), other = (me + 1) % npes;
    const char *kind = argc > 1 ? argv[1] : "p";
    long calls = argc > 2 ? atol(argv[2]) : 1000000;
    long *table = shmem_calloc(WORDS, sizeof(long));
    unsigned long x = 88172645463325252ul + me;
    shmem_barrier_all();
    /* A quarter of the calls from one line, to the PE itself. */
    for (int places = !strcmp(kind, "places"); places && calls > 0; calls--) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        if (x >> 62 == 0) sum += shmem_long_g(table, me);
        else sum -= shmem_long_g(table, other);
    }
    for (long i = 0; i < calls; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        long *word = &table[x % WORDS];
        if (!strcmp(kind, "p")) shmem_long_p(word, i, other);
        if (!strcmp(kind, "g")) sum += shmem_long_g(word, other);
        if (!strcmp(kind, "add")) shmem_long_atomic_add(word, 1, (int)(x >> 40) % npes);
        if (!strcmp(kind, "counter")) shmem_long_atomic_add(&counter, 1, 0);
        if (!strcmp(kind, "n_pes")) sum += shmem_n_pes();
        if (!strcmp(kind, "iput")) shmem_long_iput(word - x % WORDS, &sum, 16, 1, 1, other);
        if (!strcmp(kind, "mixed")) shmem_long_p(word, sum, other), sum += shmem_long_g(word, me), shmem_fence();
    }
    shmem_barrier_all();
    if (sum == 42) puts("");
    shmem_finalize();
    return 0;
}

/* Loops of short calls that overlap in the processor: short KIND CALLS, or short places SECONDS, which says how many
   calls its PEs made. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS (1 << 20)
static long counter, sum, made;

/* A quarter of the calls from one line, to the PE itself. */
static void places(long *table, int me, int other, time_t seconds) {
    struct timespec begin, now;
    unsigned long x = 88172645463325252ul + me;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (long i = 0; i < 1000000; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            if (x >> 62 == 0) sum += shmem_long_g(table, me);
            else sum -= shmem_long_g(table, other);
        }
        made += 1000000;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec <= seconds);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &made, &made, 1);
    if (me == 0) printf("%ld\n", made);
}

int main(int argc, char **argv) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), other = (me + 1) % npes;
    const char *kind = argc > 1 ? argv[1] : "p";
    long calls = argc > 2 ? atol(argv[2]) : 1000000;
    long *table = shmem_calloc(WORDS, sizeof(long));
    unsigned long x = 88172645463325252ul + me;
    shmem_barrier_all();
    if (!strcmp(kind, "places")) {
        places(table, me, other, calls);
        calls = 0;
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

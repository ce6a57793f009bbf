/* A PSHMEM tool: counts four routines and leaves the others alone. Its own call of pshmem_barrier_all at the end is not
 * one of the application's, nor is the p that it makes for itself through the name-shifted entry. */
#include <pshmem.h>
#include <stdio.h>

static long puts_seen, p_seen, adds_seen, barriers_seen;
static long own;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_long_p(long *dest, long value, int pe) {
    p_seen++;
    pshmem_long_p(dest, value, pe);
}

void shmem_long_atomic_add(long *dest, long value, int pe) {
    adds_seen++;
    pshmem_long_atomic_add(dest, value, pe);
}

void shmem_barrier_all(void) {
    barriers_seen++;
    pshmem_barrier_all();
}

void shmem_finalize(void) {
    /* A tool may use routines that it does not intercept. */
    own += pshmem_my_pe() * 0;
    printf("tool on PE %d: put %ld, p %ld, add %ld, barrier %ld\n", pshmem_my_pe(), puts_seen, p_seen, adds_seen,
           barriers_seen);
    fflush(stdout);
    pshmem_finalize();
}

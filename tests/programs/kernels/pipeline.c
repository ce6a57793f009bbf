/* A pipeline in the style of the Parallel Research Kernels' synch_p2p: each line of a PE's columns needs the last value
 * of the PE before it, handed over with a put, a fence and a flag a line. The last corner is known. */
#include <shmem.h>
#include <stdio.h>

enum { LINES = 300, COLUMNS = 100, ROUNDS = 5 };

int main(void) {
    static int start;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long width = COLUMNS + 1;
    double *grid = shmem_calloc((size_t)(width * LINES), sizeof(double));
    int *flags = shmem_calloc(LINES, sizeof(int));
    if (me == 0) for (int j = 0; j < LINES; j++) grid[j * width] = j;
    for (int i = 0; i <= COLUMNS; i++) grid[i] = (double)me * COLUMNS + i;
    shmem_barrier_all();
    for (int round = 1; round <= ROUNDS; round++) {
        for (int j = 1; j < LINES; j++) {
            double *line = grid + j * width, *above = line - width;
            if (me > 0) shmem_int_wait_until(&flags[j], SHMEM_CMP_GE, round);
            for (int i = 1; i <= COLUMNS; i++) line[i] = above[i] + line[i - 1] - above[i - 1];
            if (me + 1 < npes) {
                shmem_double_p(line, line[COLUMNS], me + 1);
                shmem_fence();
                shmem_int_p(&flags[j], round, me + 1);
            }
        }
        if (me == npes - 1) {
            shmem_double_p(grid, -grid[(LINES - 1) * width + COLUMNS], 0);
            shmem_fence();
            shmem_int_p(&start, round, 0);
        }
        if (me == 0) shmem_int_wait_until(&start, SHMEM_CMP_GE, round);
        shmem_barrier_all();
    }
    double corner = grid[(LINES - 1) * width + COLUMNS], expected = ROUNDS * (LINES - 1.0 + (double)COLUMNS * npes);
    int wrong = me == npes - 1 && corner != expected;
    if (wrong) fprintf(stderr, "the corner is %g, not %g\n", corner, expected);
    shmem_finalize();
    if (!wrong) printf("OK\n");
    return wrong;
}

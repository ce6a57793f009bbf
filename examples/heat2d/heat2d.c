/*
 * heat2d: heat flow in a plate, by Jacobi iteration on a grid that is split by rows over the PEs.
 *
 * The rim of the plate is held at fixed temperatures. In each step every inner point becomes the mean of its four
 * neighbours in the step before; for that a PE needs the row above its block and the row below it, the halo, from the
 * PEs next to it.
 *
 *     oshrun -n 4 ./heat2d [-r ROWS] [-c COLUMNS] [-s STEPS]
 *
 * Verification: PE 0 repeats the whole run alone and compares every point of all PEs with it.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REPORTS 8 /* residuals printed over the run */

/* The step whose halo row has arrived from the PE above and from the PE below. Written by those PEs only. */
static long from_above, from_below;
static double residual_mine, residual_all;
static double seconds_mine, seconds_slowest;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The first of the inner rows (counted from 1) of a PE; that of PE npes is one past the last row. */
static long first_row(int pe, long rows, int npes)
{
    return 1 + rows * pe / npes;
}

/* Rim: a hot spot on the top edge, a ramp down the left one, cold elsewhere. `row` counts from 0, the top rim. */
static double rim_or_zero(long row, long column, long rows, long columns)
{
    if (row == 0)
        return sin(3.14159265358979323846 * (double)column / (double)(columns + 1));
    if (column == 0)
        return 0.5 * (double)(rows + 1 - row) / (double)(rows + 1);
    return 0.0;
}

/* Sets `count` rows, from row `row` of the plate on, to the start: the rim where there is rim, zero inside. */
static void set_start(double *grid, long row, long count, long rows, long columns)
{
    for (long i = 0; i < count; i++)
        for (long j = 0; j < columns + 2; j++)
            grid[i * (columns + 2) + j] = rim_or_zero(row + i, j, rows, columns);
}

/* One step over rows 1..count of a block; returns the largest change of a point. */
static double sweep(const double *restrict old, double *restrict new, long count, long columns)
{
    long width = columns + 2;
    double largest = 0.0;
    for (long i = 1; i <= count; i++) {
        const double *above = old + (i - 1) * width;
        const double *here = old + i * width;
        const double *below = old + (i + 1) * width;
        double *out = new + i * width;
        for (long j = 1; j <= columns; j++) {
            out[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
            double change = fabs(out[j] - here[j]);
            largest = change > largest ? change : largest;
        }
    }
    return largest;
}

/*
 * Sends the first and last row of `grid` to the halos of the neighbours and waits for theirs.
 *
 * put, fence, flag: the fence orders the flag after the row, so whoever sees the flag sees the row. A row for step s
 * goes into the grid of that step's parity; its old content was last read in step s-1 of the receiver, which had to see
 * our flag of s-1 - sent after we had seen its own - so it is never overwritten too early.
 */
static void exchange_halo(double *grid, long count, long columns, long count_above, long step, int me, int npes)
{
    size_t width = (size_t)columns + 2;
    if (me > 0)
        shmem_put(grid + (size_t)(count_above + 1) * width, grid + width, width, me - 1);
    if (me < npes - 1)
        shmem_put(grid, grid + (size_t)count * width, width, me + 1);
    shmem_fence();
    if (me > 0)
        shmem_p(&from_below, step, me - 1);
    if (me < npes - 1)
        shmem_p(&from_above, step, me + 1);

    if (me > 0)
        shmem_wait_until(&from_above, SHMEM_CMP_GE, step);
    if (me < npes - 1)
        shmem_wait_until(&from_below, SHMEM_CMP_GE, step);
}

/* On PE 0: the run without any other PE, compared with the blocks of all. Returns the largest difference. */
static double compare_with_serial(const double *result, long rows, long columns, long steps, int npes)
{
    size_t width = (size_t)columns + 2;
    double *old = malloc((size_t)(rows + 2) * width * sizeof *old);
    double *new = malloc((size_t)(rows + 2) * width * sizeof *new);
    double *row = malloc(width * sizeof *row);
    if (old == NULL || new == NULL || row == NULL) {
        fprintf(stderr, "heat2d: no memory for the serial run\n");
        shmem_global_exit(1);
    }
    set_start(old, 0, rows + 2, rows, columns);
    set_start(new, 0, rows + 2, rows, columns);
    for (long step = 1; step <= steps; step++) {
        sweep(old, new, rows, columns);
        double *swap = old;
        old = new;
        new = swap;
    }

    double worst = 0.0;
    for (int pe = 0; pe < npes; pe++) {
        long first = first_row(pe, rows, npes);
        long count = first_row(pe + 1, rows, npes) - first;
        for (long i = 0; i < count; i++) {
            shmem_get(row, result + (size_t)(i + 1) * width, width, pe);
            for (size_t j = 0; j < width; j++) {
                double difference = fabs(row[j] - old[(size_t)(first + i) * width + j]);
                worst = difference > worst ? difference : worst;
            }
        }
    }
    free(row);
    free(new);
    free(old);
    return worst;
}

/* Whoever ends the job says why: it may end before another PE has. */
static long number(const char *text, char option)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 1000000) {
        fprintf(stderr, "heat2d: -%c takes a number from 1 to 1000000, not '%s'\n", option, text);
        shmem_global_exit(2);
    }
    return value;
}

struct size {
    long rows, columns, steps;
};

static struct size read_options(int argc, char **argv, int npes)
{
    struct size of = {.rows = 512, .columns = 512, .steps = 400};
    int option;
    while ((option = getopt(argc, argv, "r:c:s:")) != -1) {
        switch (option) {
        case 'r': of.rows = number(optarg, 'r'); break;
        case 'c': of.columns = number(optarg, 'c'); break;
        case 's': of.steps = number(optarg, 's'); break;
        default:
            fprintf(stderr, "usage: heat2d [-r ROWS] [-c COLUMNS] [-s STEPS]\n");
            shmem_global_exit(2);
        }
    }
    if (of.rows < npes) {
        fprintf(stderr, "heat2d: %ld rows cannot be split over %d PEs\n", of.rows, npes);
        shmem_global_exit(2);
    }
    return of;
}

/* Two grids, read and written in turn, each with a halo row above and below: the same size on every PE. */
static void make_grids(double *grid[2], long first, long count, const struct size *of, int npes)
{
    size_t cells = ((size_t)(of->rows / npes) + 1 + 2) * ((size_t)of->columns + 2);
    for (int i = 0; i < 2; i++) {
        grid[i] = shmem_malloc(cells * sizeof(double));
        if (grid[i] == NULL) {
            fprintf(stderr, "heat2d: no room for two blocks of %zu KiB: raise SHMEM_SYMMETRIC_SIZE\n",
                    cells * sizeof(double) >> 10);
            shmem_global_exit(1);
        }
        set_start(grid[i], first - 1, count + 2, of->rows, of->columns);
    }
}

/* All steps. Returns the seconds of the slowest PE. */
static double run(double *grid[2], long first, long count, const struct size *of, int me, int npes)
{
    long count_above = me > 0 ? first - first_row(me - 1, of->rows, npes) : 0;
    long report = of->steps < REPORTS ? 1 : of->steps / REPORTS;
    double start = now();
    for (long step = 1; step <= of->steps; step++) {
        double *old = grid[(step - 1) % 2];
        double *new = grid[step % 2];
        residual_mine = sweep(old, new, count, of->columns);
        exchange_halo(new, count, of->columns, count_above, step, me, npes);
        if (step % report == 0 || step == of->steps) {
            shmem_max_reduce(SHMEM_TEAM_WORLD, &residual_all, &residual_mine, 1);
            if (me == 0)
                printf("heat2d: step %6ld: largest change %.3e\n", step, residual_all);
        }
    }
    shmem_barrier_all();
    seconds_mine = now() - start;
    shmem_max_reduce(SHMEM_TEAM_WORLD, &seconds_slowest, &seconds_mine, 1);
    return seconds_slowest;
}

/* On PE 0: what came of it. */
static void check(const double *result, double seconds, const struct size *of, int npes)
{
    double worst = compare_with_serial(result, of->rows, of->columns, of->steps, npes);
    /* The same sums in the same order: the difference should be zero, and rounding is all that is forgiven. */
    if (!(worst <= 1e-13)) {
        fprintf(stderr, "heat2d: FAILED: differs from the serial run by up to %.3e\n", worst);
        shmem_global_exit(1);
    }
    double points = (double)of->rows * (double)of->columns * (double)of->steps;
    printf("heat2d: %d PEs, %ld x %ld points, %ld steps, %.3f s, %.1f million points/s\n", npes, of->rows, of->columns,
           of->steps, seconds, seconds > 0 ? points / seconds * 1e-6 : 0.0);
    printf("heat2d: OK, equal to the serial run (largest difference %.1e)\n", worst);
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    struct size of = read_options(argc, argv, npes);

    long first = first_row(me, of.rows, npes);
    long count = first_row(me + 1, of.rows, npes) - first;
    double *grid[2];
    make_grids(grid, first, count, &of, npes);
    shmem_barrier_all();

    double seconds = run(grid, first, count, &of, me, npes);
    if (me == 0)
        check(grid[of.steps % 2], seconds, &of, npes);

    shmem_barrier_all(); /* PE 0 has read the others' blocks */
    shmem_free(grid[0]);
    shmem_free(grid[1]);
    shmem_finalize();
    return 0;
}

/*
 * stencil2d: heat in a plate that is split over a grid of PEs, in rows and columns.
 *
 * In each step every point becomes the mean of its four neighbours. A PE needs the edges of the blocks beside its own,
 * the halo, each step. It gets them in one of two ways:
 *
 *   -h barrier   each edge is put into the neighbour's block, a column point by point; a barrier ends the step
 *   -h signal    edges go to the neighbours with a signal each, columns in one piece; while they travel the points that
 *                need no halo are computed
 *
 *     oshrun -n 4 ./stencil2d [-n POINTS (of a block's edge)] [-s STEPS] [-h barrier|signal]
 *
 * Verification: PE 0 repeats the run alone and compares every point of all PEs.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>

#include "../common.h"

enum side { ABOVE, BELOW, LEFT, RIGHT, SIDES };

static int me, npes, columns, neighbour[SIDES]; /* of the grid of PEs; -1: the edge of the plate */
static size_t n, width;                         /* points of a block's edge, without and with halo */
static double *grid[2];
static double *edge;             /* [parity][side][n]: edges that neighbours have put here */
static uint64_t come[2 * SIDES]; /* [parity][side]: the step of that edge */
static double *packed;           /* [side][n]: own columns, to be sent */

/* The side of a neighbour that faces this side. */
static enum side facing(enum side side)
{
    return (enum side)(side ^ 1);
}

/* Where the plate begins: a wave, so that all points differ. */
static double start_at(size_t row, size_t column)
{
    return sin(0.1 * (double)row) * cos(0.07 * (double)column);
}

/* Points from row `top` to `bottom`, from column `left` to `right`. */
static void sweep(const double *restrict old, double *restrict new, size_t row_length, size_t top, size_t bottom,
                  size_t left, size_t right)
{
    for (size_t i = top; i <= bottom; i++)
        for (size_t j = left; j <= right; j++)
            new[i * row_length + j] = 0.25 * (old[(i - 1) * row_length + j] + old[(i + 1) * row_length + j] +
                                              old[i * row_length + j - 1] + old[i * row_length + j + 1]);
}

static void exchange_with_barrier(double *block)
{
    if (neighbour[ABOVE] >= 0)
        shmem_put(block + (n + 1) * width + 1, block + width + 1, n, neighbour[ABOVE]);
    if (neighbour[BELOW] >= 0)
        shmem_put(block + 1, block + n * width + 1, n, neighbour[BELOW]);
    for (size_t i = 1; i <= n; i++) {
        if (neighbour[LEFT] >= 0)
            shmem_p(block + i * width + n + 1, block[i * width + 1], neighbour[LEFT]);
        if (neighbour[RIGHT] >= 0)
            shmem_p(block + i * width, block[i * width + n], neighbour[RIGHT]);
    }
    shmem_barrier_all();
}

static void step_with_barrier(const double *old, double *new)
{
    sweep(old, new, width, 1, n, 1, n);
    exchange_with_barrier(new);
}

/* The edges of the block, each with a signal. A neighbour has used those of two steps before: it has sent since. */
static void send_edges(const double *block, uint64_t step)
{
    for (int side = 0; side < SIDES; side++) {
        if (neighbour[side] < 0)
            continue;
        const double *from = block + (side == ABOVE ? 1 : n) * width + 1;
        if (side == LEFT || side == RIGHT) {
            from = packed + (size_t)side * n;
            for (size_t i = 0; i < n; i++)
                packed[(size_t)side * n + i] = block[(i + 1) * width + (side == LEFT ? 1 : n)];
        }
        size_t at = step % 2 * SIDES + facing((enum side)side);
        shmem_put_signal_nbi(edge + at * n, from, n, &come[at], step, SHMEM_SIGNAL_SET, neighbour[side]);
    }
}

/* Waits for the neighbours' edges, and makes them the halo. */
static void receive_edges(double *block, uint64_t step)
{
    for (int side = 0; side < SIDES; side++) {
        if (neighbour[side] < 0)
            continue;
        size_t at = step % 2 * SIDES + (size_t)side;
        shmem_signal_wait_until(&come[at], SHMEM_CMP_GE, step);
        const double *from = edge + at * n;
        for (size_t i = 0; i < n; i++) {
            switch (side) {
            case ABOVE: block[i + 1] = from[i]; break;
            case BELOW: block[(n + 1) * width + i + 1] = from[i]; break;
            case LEFT: block[(i + 1) * width] = from[i]; break;
            default: block[(i + 1) * width + n + 1] = from[i];
            }
        }
    }
}

static void step_with_signals(double *old, double *new, uint64_t step)
{
    send_edges(old, step);
    if (n > 2)
        sweep(old, new, width, 2, n - 1, 2, n - 1);
    receive_edges(old, step);
    sweep(old, new, width, 1, 1, 1, n);
    sweep(old, new, width, n, n, 1, n);
    sweep(old, new, width, 1, n, 1, 1);
    sweep(old, new, width, 1, n, n, n);
    shmem_quiet(); /* the edges have left: this block is overwritten in the next step but one */
}

/* On PE 0: the run without other PEs; the largest difference. */
static double compare(const double *result, int steps)
{
    size_t high = n * (size_t)(npes / columns) + 2, wide = n * (size_t)columns + 2;
    double *old = malloc(high * wide * sizeof *old), *new = malloc(high * wide * sizeof *new);
    double *row = malloc(n * sizeof *row), worst = 0;
    if (old == NULL || new == NULL || row == NULL)
        end_job(1, "stencil2d: no memory to check with");
    for (size_t i = 0; i < high * wide; i++)
        old[i] = new[i] = start_at(i / wide, i % wide);
    for (int step = 0; step < steps; step++) {
        sweep(old, new, wide, 1, high - 2, 1, wide - 2);
        double *swap = old;
        old = new;
        new = swap;
    }
    for (int pe = 0; pe < npes; pe++)
        for (size_t i = 0; i < n; i++) {
            shmem_get(row, result + (i + 1) * width + 1, n, pe);
            for (size_t j = 0; j < n; j++) {
                size_t at = ((size_t)(pe / columns) * n + i + 1) * wide + (size_t)(pe % columns) * n + j + 1;
                worst = fmax(worst, fabs(row[j] - old[at]));
            }
        }
    free(row);
    free(new);
    free(old);
    return worst;
}

static void lay_out(void)
{
    columns = grid_columns(npes);
    neighbour[ABOVE] = me >= columns ? me - columns : -1;
    neighbour[BELOW] = me + columns < npes ? me + columns : -1;
    neighbour[LEFT] = me % columns > 0 ? me - 1 : -1;
    neighbour[RIGHT] = me % columns < columns - 1 ? me + 1 : -1;
    width = n + 2;
    for (int g = 0; g < 2; g++) {
        grid[g] = symmetric(width * width, sizeof(double));
        for (size_t i = 0; i < width * width; i++)
            grid[g][i] = start_at((size_t)(me / columns) * n + i / width, (size_t)(me % columns) * n + i % width);
    }
    edge = symmetric(2 * SIDES * n, sizeof *edge);
    packed = malloc(SIDES * n * sizeof *packed);
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    int option, steps = 20000, signals = 1;
    n = 64;
    while ((option = getopt(argc, argv, "n:s:h:")) != -1) {
        if (option == 'n')
            n = (size_t)number('n', optarg, 1L << 14);
        else if (option == 's')
            steps = (int)number('s', optarg, 1L << 30);
        else if (option == 'h' && (strcmp(optarg, "barrier") == 0 || strcmp(optarg, "signal") == 0))
            signals = *optarg == 's';
        else
            end_job(2, "usage: stencil2d [-n POINTS] [-s STEPS] [-h barrier|signal]");
    }
    lay_out();
    shmem_barrier_all();
    double start = now();
    for (int step = 1; step <= steps; step++) {
        if (signals)
            step_with_signals(grid[(step - 1) % 2], grid[step % 2], (uint64_t)step);
        else
            step_with_barrier(grid[(step - 1) % 2], grid[step % 2]);
    }
    shmem_barrier_all();
    double seconds = slowest(now() - start);

    if (me == 0) {
        double worst = compare(grid[steps % 2], steps);
        if (!(worst <= 1e-13))
            end_job(1, "stencil2d: FAILED: differs from the run of one PE by up to %.3e", worst);
        printf("stencil2d: %d PEs (%d x %d), blocks of %zu x %zu, %d steps, %s: %.3f s, %.2f us a step\n", npes,
               npes / columns, columns, n, n, steps, signals ? "signals" : "barriers", seconds, seconds / steps * 1e6);
        printf("stencil2d: OK, equal to the run of one PE\n");
    }
    shmem_barrier_all();
    free(packed);
    shmem_free(edge);
    shmem_free(grid[1]);
    shmem_free(grid[0]);
    shmem_finalize();
    return 0;
}

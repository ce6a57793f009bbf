/*
 * How much of an operation with a handle the program has for itself, between two PEs that reach each other over a
 * network only. The method is that of COMB, as the paper on the extensions uses it: first the operation and its wait at
 * once; then with ever more work in between, until both together take longer. What is reported is the part of the
 * operation that the most work left over, against the whole of it: 0.14 times the whole is an overlap of 86 %.
 */
#include "shmem_bench.h"

#include <shmemx.h>

#define LARGE ((size_t)1 << 20)
#define REPEATS 21
/* Longer by this factor counts as the same: what the machine does by itself between two runs. */
#define SAME 1.05
/* Steps in which the work grows, over the time of the operation. */
#define STEPS 25

enum operation { PUT, FETCH_ADD, BROADCAST_FROM, BROADCAST_TO };
static const char *const NAMES[] = {"overlap-put", "overlap-fadd", "overlap-bcast-root", "overlap-bcast"};

static char *target, *source;
static long *word;
static double ns_by_turn;

/* Work that reads no clock, and that nobody can leave out: what is taken from it by others makes it longer. */
static void work(long turns)
{
    static volatile double sink;
    double value = sink;
    for (long i = 0; i < turns; i++)
        value = value * 0.999999 + 1e-6;
    sink = value;
}

static void calibrate(void)
{
    double best = 0;
    for (int i = 0; i < 9; i++) {
        double start = now_ns();
        work(1000000);
        double taken = (now_ns() - start) / 1e6;
        best = best == 0 || taken < best ? taken : best;
    }
    ns_by_turn = best;
}

static shmemx_request_handle_t begin(enum operation operation)
{
    shmemx_request_handle_t request = SHMEMX_REQ_INVALID;
    static long before;
    switch (operation) {
    case PUT:
        shmemx_char_put_nb(target, source, LARGE, 1, &request);
        break;
    case FETCH_ADD:
        shmemx_long_fadd_nb(word, 1, 1, &before, &request);
        break;
    case BROADCAST_FROM:
    case BROADCAST_TO:
        shmemx_char_broadcast_nb(SHMEM_TEAM_WORLD, target, source, LARGE, operation == BROADCAST_TO, &request);
        break;
    }
    return request;
}

/* Nanoseconds of an operation with so much work in it; the median. The other PE does the same where it takes part, else
 * it waits in the barrier. */
static double once(enum operation operation, double ns)
{
    double of[REPEATS];
    int takes_part = operation == BROADCAST_FROM || operation == BROADCAST_TO;
    long turns = (long)(ns / ns_by_turn);
    for (int i = 0; i < REPEATS; i++) {
        shmem_barrier_all();
        double start = now_ns();
        if (me == 0 || takes_part) {
            shmemx_request_handle_t request = begin(operation);
            work(turns);
            shmemx_wait_req(request);
        }
        of[i] = now_ns() - start;
        shmem_quiet();
    }
    shmem_barrier_all();
    return median(of, REPEATS);
}

static void measure(enum operation operation)
{
    once(operation, 0);
    double whole = (double)agree((long)once(operation, 0)), most = 0;
    for (int step = 1; step <= STEPS; step++) {
        double ns = whole * step / STEPS;
        /* The PE that measures decides for both. */
        if (!agree(once(operation, ns) <= SAME * whole))
            break;
        most = ns;
    }
    struct timing t = {.ns = whole - most, .limit_ns = whole};
    if (me == 0)
        report(NAMES[operation], "heap", operation == FETCH_ADD ? 8 : LARGE, npes, t, "whole-call");
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    target = symmetric(LARGE);
    source = symmetric(LARGE);
    word = symmetric(4096);
    calibrate();
    for (int operation = PUT; operation <= BROADCAST_TO; operation++)
        measure((enum operation)operation);
    shmem_finalize();
    return 0;
}

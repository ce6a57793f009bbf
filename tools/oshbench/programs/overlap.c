/*
 * How much of an operation with a handle the program has for itself, between two PEs that reach each other over a
 * network only. PE 0 begins the operation, works, and waits for it; PE 1 begins what it takes part in, and sleeps but
 * for looks at it until PE 0 is through. So one core computes, and the others are there for all else. Two methods:
 *
 * overlap-*: that of the paper on the extensions. First the operation and its wait at once; then with ever more work
 * in between, until both together take longer. What is reported is the part of the operation that the most work left
 * over, against the whole of it: 0.14 times the whole is an overlap of 86 %. It asks for two things at a time: that
 * the program has its core, and that the operation is as fast without it. On two cores what moves PE 0's part shares
 * the second one with PE 1, so that there is no limit to hold it to with fewer than three.
 *
 * pww-*: COMB's post-work-wait. With work twice as long as the operation: what begin, work and wait take more than the
 * work alone, against the operation and its wait at once. It asks what the operation takes of the program's time.
 */
#define _GNU_SOURCE
#include "shmem_bench.h"

#include <dirent.h>
#include <sched.h>

#include <shmemx.h>

#define LARGE ((size_t)1 << 20)
#define REPEATS 41
/* Longer by this factor counts as the same: what the machine does by itself between two runs. */
#define SAME 1.05
/* What lets the other PE come out of a barrier and go to sleep. */
#define SETTLED_NS 300e3
/* Steps in which the work grows, over the time of the operation. */
#define STEPS 25

enum operation { PUT, FETCH_ADD, BROADCAST_FROM, BROADCAST_TO, OPERATIONS };
static const char *const NAMES[][OPERATIONS] = {
    {"overlap-put", "overlap-fadd", "overlap-bcast-root", "overlap-bcast"},
    {"pww-put", "pww-fadd", "pww-bcast-root", "pww-bcast"},
};

static char *target, *source;
static long *word;
static double ns_by_turn;
static int cores;

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
    case OPERATIONS:
        break;
    }
    return request;
}

/* PE 1 sleeps until PE 0 is through, and asks for its part now and then: the core is free for threads. */
static long through, turn;

static void sleep_through(shmemx_request_handle_t request)
{
    while (__atomic_load_n(&through, __ATOMIC_ACQUIRE) < turn) {
        shmemx_test_req(request);
        usleep(20);
    }
}

/* Nanoseconds of an operation with so much work in it, or of the work alone. */
static double one(enum operation operation, long turns, int alone)
{
    int takes_part = operation == BROADCAST_FROM || operation == BROADCAST_TO;
    shmem_barrier_all();
    turn++;
    shmemx_request_handle_t request = SHMEMX_REQ_INVALID;
    if (me != 0) {
        if (takes_part && !alone)
            request = begin(operation);
        sleep_through(request);
        shmemx_wait_req(request);
        return 0;
    }
    /* Until the other PE sleeps. */
    work((long)(SETTLED_NS / ns_by_turn));
    double start = now_ns();
    if (!alone)
        request = begin(operation);
    work(turns);
    shmemx_wait_req(request);
    double taken = now_ns() - start;
    shmem_long_p(&through, turn, 1);
    shmem_quiet();
    return taken;
}

/* The median. */
static double once(enum operation operation, double ns)
{
    double of[REPEATS];
    for (int i = 0; i < REPEATS; i++)
        of[i] = one(operation, (long)(ns / ns_by_turn), 0);
    shmem_barrier_all();
    return median(of, REPEATS);
}

/* What an operation takes of the time of so much work: in turns with the work alone, the difference of the medians. */
static double taken_of(enum operation operation, double ns)
{
    double with[REPEATS], without[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        with[i] = one(operation, (long)(ns / ns_by_turn), 0);
        without[i] = one(operation, (long)(ns / ns_by_turn), 1);
    }
    shmem_barrier_all();
    double more = median(with, REPEATS) - median(without, REPEATS);
    return more > 0 ? more : 0;
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
    size_t bytes = operation == FETCH_ADD ? 8 : LARGE;
    struct timing left = {.ns = whole - most, .limit_ns = whole};
    struct timing busy = {.ns = taken_of(operation, 2 * whole), .limit_ns = whole};
    if (me == 0) {
        report(NAMES[0][operation], "heap", bytes, npes, left, cores < 3 ? NULL : "whole-call");
        report(NAMES[1][operation], "heap", bytes, npes, busy, "whole-call");
    }
}

/* As if the PEs were on machines of their own: the thread that measures has a core, and PE 1 with all of its threads
 * has the others. */
static void place(void)
{
    cpu_set_t all, first, others;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    cores = CPU_COUNT(&all);
    if (cores < 2)
        return;
    int cpu = 0;
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&first);
    CPU_SET(cpu, &first);
    others = all;
    CPU_CLR(cpu, &others);
    if (me == 0) {
        sched_setaffinity(0, sizeof first, &first);
        return;
    }
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads != NULL && (entry = readdir(threads)) != NULL;)
        if (entry->d_name[0] != '.')
            sched_setaffinity(atoi(entry->d_name), sizeof others, &others);
    if (threads != NULL)
        closedir(threads);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    need(2);
    target = symmetric(LARGE);
    source = symmetric(LARGE);
    word = symmetric(4096);
    place();
    calibrate();
    for (int operation = PUT; operation < OPERATIONS; operation++)
        measure((enum operation)operation);
    shmem_finalize();
    return 0;
}

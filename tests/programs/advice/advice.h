/* What the programs of the advice rules share. Each does the same twice: as a program does it that the rule is for, and
 * as the rule advises. */
#ifndef ADVICE_H
#define ADVICE_H

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, npes, next_pe;
/* Set by the command line: 1 in the place of many turns, so that a test is short. */
static long parts = 1;

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Work of so many milliseconds on a core, however many share it. */
static void work(double ms) {
    double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    while (seconds(CLOCK_THREAD_CPUTIME_ID) - begin < 1e-3 * ms) {
    }
}

/* As long without a core. */
static void idle(double ms) {
    struct timespec pause = {0, (long)(1e6 * ms)};
    nanosleep(&pause, NULL);
}

static long turns(long many) { return many / parts; }

static void *symmetric(size_t bytes) {
    void *memory = shmem_calloc(1, bytes);
    if (memory == NULL) exit(1);
    return memory;
}
#endif

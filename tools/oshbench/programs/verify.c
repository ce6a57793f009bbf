/*
 * Times routines from outside, with clock_gettime around each call, for comparison with what the profile says of them. Prints
 * a line a PE and routine: "outside ROUTINE CALLS NANOSECONDS". Calls take long enough for the clock not to matter.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MIB = 1 << 20, ROUNDS = 40 };

static uint64_t flag;
static long sums[1 << 15], addends[1 << 15];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void pause_ms(int ms)
{
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}

/* Adds the time of CALL to TOTAL. */
#define TIMED(total, call)       \
    do {                         \
        double begin_ = now();   \
        call;                    \
        (total) += now() - begin_; \
    } while (0)

static void report(const char *routine, int calls, double total)
{
    printf("outside %s %d %.0f\n", routine, calls, total);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 && strcmp(argv[1], "--quick") == 0 ? ROUNDS / 4 : ROUNDS;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    char *there = shmem_malloc(4 * MIB);
    static char here[4 * MIB];
    if (there == NULL)
        return 1;
    memset(here, 1, sizeof here);
    double put = 0, get = 0, late = 0, wait = 0, sum = 0, send = 0;
    for (int k = 0; k < rounds; k++) {
        TIMED(put, shmem_putmem(there, here, 4 * MIB, next));
        TIMED(get, shmem_getmem(here, there, 4 * MIB, next));
    }
    for (int k = 0; k < rounds; k++) {
        if (me == k % npes)
            pause_ms(2);
        TIMED(late, shmem_barrier_all());
    }
    /* Each PE is released by the one before it; the first one is late. */
    for (int k = 1; k <= rounds; k++) {
        if (me != 0)
            TIMED(wait, shmem_signal_wait_until(&flag, SHMEM_CMP_GE, (uint64_t)k));
        else
            pause_ms(2);
        shmem_uint64_atomic_set(&flag, (uint64_t)k, next);
        shmem_team_sync(SHMEM_TEAM_WORLD);
    }
    for (int k = 0; k < rounds; k++) {
        TIMED(sum, shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sums, addends, 1 << 15));
        TIMED(send, shmem_broadcastmem(SHMEM_TEAM_WORLD, there, here, MIB, 0));
    }
    report("shmem_putmem", rounds, put);
    report("shmem_getmem", rounds, get);
    report("shmem_barrier_all", rounds, late);
    if (me != 0)
        report("shmem_signal_wait_until", rounds, wait);
    report("shmem_long_sum_reduce", rounds, sum);
    report("shmem_broadcastmem", rounds, send);
    shmem_finalize();
    return 0;
}

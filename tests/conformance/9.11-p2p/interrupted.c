/* 9.11: signals with handlers that interrupt system calls do not disturb waits, barriers and collectives.
 * pes: 2 3 4
 * needs: shmem_long_wait_until shmem_barrier_all shmem_long_sum_reduce
 */
#include <signal.h>
#include <sys/time.h>

#include "check.h"

static volatile sig_atomic_t ticks;
static long flag, source, dest;

static void tick(int number) { ticks = ticks + 1; }

int main(void) {
    begin();
    struct sigaction action = {.sa_handler = tick};
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    struct itimerval often = {{0, 500}, {0, 500}};
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (long round = 1; round <= 20; round++) {
        /* The late one sleeps through its own signals. */
        if (me == round % npes) for (double until = seconds() + 0.005; seconds() < until;) usleep(200);
        shmem_barrier_all();
        if (me == round % npes) {
            for (double until = seconds() + 0.005; seconds() < until;) usleep(200);
            for (int pe = 0; pe < npes; pe++) shmem_long_p(&flag, round, pe);
        }
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK_EQ(flag, round);
        source = me;
        shmem_barrier_all();
        CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
        CHECK_EQ(dest, (long)npes * (npes - 1) / 2);
    }
    CHECKF(ticks > 10, "%d signals", (int)ticks);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    return end();
}

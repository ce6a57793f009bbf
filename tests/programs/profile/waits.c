/* Waits whose causes are known.
 *
 *     waits flags TURNS      a wavefront: each PE waits for a flag of the PE before it; PE 0 is slow, in region `prep`
 *     waits signals TURNS    a halo exchange by put with signal; PE 1 is slow
 *     waits several TURNS    PE 0 waits for the flags of all others in one call; the last PE is slow
 *     waits vain TURNS       PE 1 stores what ends no wait and works on; later PE 2 stores what does, without a call
 *     waits both TURNS       the same, with a call
 *     waits between TURNS    PE 2 waits for PE 0, which waits for PE 1 a bit, between one piece of work and another
 *     waits locks TURNS      a convoy: each PE works under one lock, 300 us a time
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long flag;
static long flags[64];
static uint64_t arrived[2];
static double halo[2][512];
static long table_lock[4];

/* Time outside of the library, whatever the processors do meanwhile. */
static void work(long us)
{
    struct timespec time = { us / 1000000, us % 1000000 * 1000 };
    nanosleep(&time, NULL);
}

static void wavefront(int me, int pes, long turns)
{
    for (long turn = 1; turn <= turns; turn++) {
        if (me > 0)
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn); /* WAIT flags */
        if (me == 0) {
            shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "prep");
            work(8000);
            shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "prep");
        } else {
            work(1000);
        }
        if (me + 1 < pes)
            shmem_long_p(&flag, turn, me + 1); /* STORE flags */
    }
}

static void exchange(int me, int pes, long turns)
{
    double row[512];
    memset(row, 0, sizeof row);
    int left = (me + pes - 1) % pes, right = (me + 1) % pes;
    for (long turn = 1; turn <= turns; turn++) {
        work(me == 1 ? 8000 : 1000);
        shmem_putmem_signal(halo[1], row, sizeof row, &arrived[1], turn, SHMEM_SIGNAL_SET, left); /* STORE left */
        shmem_putmem_signal(halo[0], row, sizeof row, &arrived[0], turn, SHMEM_SIGNAL_SET, right); /* STORE right */
        shmem_signal_wait_until(&arrived[0], SHMEM_CMP_GE, turn); /* WAIT left */
        shmem_signal_wait_until(&arrived[1], SHMEM_CMP_GE, turn); /* WAIT right */
    }
}

static void gather(int me, int pes, long turns)
{
    for (long turn = 1; turn <= turns; turn++) {
        if (me == 0)
            shmem_long_wait_until_all(&flags[1], pes - 1, NULL, SHMEM_CMP_GE, turn); /* WAIT several */
        else {
            work(me == pes - 1 ? 8000 : 1000);
            shmem_long_atomic_set(&flags[me], turn, 0); /* STORE several */
        }
        shmem_barrier_all();
    }
}

/* PE 0 waits for an even number. */
static void in_vain(int me, int with_call, long turns)
{
    volatile long *plain = shmem_ptr(&flag, 0);
    for (long turn = 1; turn <= turns; turn++) {
        if (me == 0) {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, 2 * turn); /* WAIT vain */
        } else if (me == 1) {
            work(1000);
            shmem_long_p(&flag, 2 * turn - 1, 0); /* STORE vain */
            work(11000);
        } else {
            work(8000);
            if (with_call)
                shmem_long_p(&flag, 2 * turn, 0); /* STORE both */
            else
                *plain = 2 * turn;
        }
        shmem_barrier_all();
    }
}

static void works_between(int me, long turns)
{
    for (long turn = 1; turn <= turns; turn++) {
        if (me == 2) {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn); /* WAIT between */
        } else if (me == 1) {
            work(6000);
            shmem_long_p(&flag, turn, 0);
        } else {
            work(5000);
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn); /* WAIT itself */
            work(5000);
            shmem_long_p(&flag, turn, 2); /* STORE between */
        }
        shmem_barrier_all();
    }
}

static void convoy(long turns)
{
    for (long turn = 1; turn <= turns; turn++) {
        shmem_set_lock(&table_lock[2]); /* WAIT lock */
        work(300);
        shmem_clear_lock(&table_lock[2]); /* STORE lock */
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "flags";
    long turns = argc > 2 ? atol(argv[2]) : 10;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_barrier_all(); /* BEGIN */
    if (strcmp(what, "flags") == 0)
        wavefront(me, pes, turns);
    else if (strcmp(what, "signals") == 0)
        exchange(me, pes, turns);
    else if (strcmp(what, "vain") == 0 || strcmp(what, "both") == 0)
        in_vain(me, strcmp(what, "both") == 0, turns);
    else if (strcmp(what, "between") == 0)
        works_between(me, turns);
    else if (strcmp(what, "locks") == 0)
        convoy(turns);
    else
        gather(me, pes, turns);
    shmem_finalize();
    return 0;
}

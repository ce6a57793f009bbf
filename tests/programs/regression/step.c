/* A program with versions of itself: what is compiled in is what a comparison of the two has to say. Each PE puts a
 * block to the next one, completes it, gets another, and meets the others.
 *   EXTRA_BARRIER  one more barrier a step            QUIET_EACH  a quiet after each put
 *   SPLIT          64 puts of 8 bytes for one of 512  MOVED       the exchange is a function further down
 *   RENAMED        the exchange has another name      SLOW_GET    PE 3's gets are held up for 20 ms
 *   SPIN           that many thousand turns more in the region "solve" */
#define _DEFAULT_SOURCE
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef SPIN
#define SPIN 0
#endif
#define PAGE 4096

static long block[64], source[64];
static long flag;
static long *room;

#ifdef RENAMED
#define exchange swap_blocks
#endif

static void exchange(int next);

#ifdef MOVED



/* Lines that were not there. */


#else
static __attribute__((noinline)) void exchange(int next) {
    static long mine[64];
#ifdef SPLIT
    for (int k = 0; k < 64; k++) shmem_long_put(&block[k], &mine[k], 1, next);
#else
    shmem_long_put(block, mine, 64, next);
#endif
#ifdef QUIET_EACH
    shmem_quiet();
#endif
    shmem_long_p(&flag, 1, next);
    shmem_quiet();
}
#endif

#ifdef SLOW_GET
/* The get stores to a page that cannot be written: here it waits, and then it can. */
static void held_up(int signal) {
    (void)signal;
    usleep(20000);
    mprotect(room, PAGE, PROT_READ | PROT_WRITE);
}
#endif

static __attribute__((noinline)) void halo_exchange(int me, int next) {
#ifdef SLOW_GET
    if (me == 3) mprotect(room, PAGE, PROT_NONE);
#endif
    (void)me;
    shmem_long_get(room, source, 64, next);
}

static __attribute__((noinline)) void step(int me, int next) {
    exchange(next);
#ifdef EXTRA_BARRIER
    shmem_barrier_all();
#endif
    halo_exchange(me, next);
    shmem_barrier_all();
}

#ifdef MOVED
static __attribute__((noinline)) void exchange(int next) {
    static long mine[64];
    shmem_long_put(block, mine, 64, next);

    shmem_long_p(&flag, 1, next);
    shmem_quiet();
}
#endif

static __attribute__((noinline)) void solve(long turns) {
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "solve");
    for (volatile long k = 0; k < turns; k++) {
    }
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "solve");
}

int main(int argc, char **argv) {
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    int steps = argc > 1 ? atoi(argv[1]) : 5;
    long turns = argc > 2 ? atol(argv[2]) : 0;
    room = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return 1;
#ifdef SLOW_GET
    signal(SIGSEGV, held_up);
#endif
    for (int k = 0; k < steps; k++) {
        step(me, next);
        if (turns > 0) solve(turns + turns / 1000 * SPIN);
    }
    shmem_finalize();
    return 0;
}

/* A pipeline: each PE waits for the flag of the one before it, works, and sets that of the next. With SLOW, PE 1 works
 * for 20 ms longer, for which PE 2 waits; and PE 3 waits for PE 2. */
#define _DEFAULT_SOURCE
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

static long flag;

static __attribute__((noinline)) void receive(long step) {
    shmem_long_wait_until(&flag, SHMEM_CMP_GE, step);
}

static __attribute__((noinline)) void work(int me) {
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "work");
    (void)me;
#ifdef SLOW
    if (me == 1) usleep(20000);
#endif
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "work");
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    for (long step = 1; step <= 10; step++) {
        if (me > 0) receive(step);
        work(me);
        if (me + 1 < pes) shmem_long_p(&flag, step, me + 1);
    }
    shmem_finalize();
    return 0;
}

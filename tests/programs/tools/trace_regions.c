/* Regions of known times, two of which begin or end while nothing is traced, and short calls of one routine between
 * them. With "kill", PE 1 ends at once after its calls. */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define CALLS 200000

static long target;
static volatile int is_done;

int main(int argc, char **argv) {
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    for (int turn = 0; turn < 3; turn++) {
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "solve");
        usleep(20000);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, (const char *)NULL);
    }
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "outer");
    shmem_pcontrol(SHMEMX_PCONTROL_TRACE_OFF);
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "inner");
    shmem_pcontrol(SHMEMX_PCONTROL_TRACE_ON);
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "inner");
    for (int burst = 0; burst < 4; burst++) {
        for (int call = 0; call < CALLS; call++) shmem_long_p(&target, call, next);
        usleep(20000);
    }
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "outer");
    for (int call = 0; call < CALLS; call++) shmem_long_p(&target, call, next);
    /* Not before PE 0 has made its calls to it, and without a call that the trace has at once. */
    if (argc > 1 && strcmp(argv[1], "kill") == 0) {
        if (me == 0) shmem_int_p((int *)&is_done, 1, 1);
        while (me == 1 && !is_done) continue;
        if (me == 1) raise(SIGKILL);
    }
    shmem_finalize();
    return 0;
}

/* Thousands of regions with short calls in them: more than a chunk of a trace holds. */
#include <shmem.h>
#include <shmemx.h>

static long target;

int main(void) {
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int turn = 0; turn < 4000; turn++) {
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "it");
        for (int call = 0; call < 10; call++) {
            shmem_long_p(&target, call, next);
            shmem_fence();
            shmem_long_atomic_inc(&target, next);
        }
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, (const char *)0);
        if (turn % 100 == 0) shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}

/* Uneven work, large puts and waiting, in two regions and outside of them: what the factors of efficiency are made
 * of. */
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <time.h>

static void work(double seconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double end = t.tv_sec + 1e-9 * t.tv_nsec + seconds;
    do clock_gettime(CLOCK_MONOTONIC, &t);
    while (t.tv_sec + 1e-9 * t.tv_nsec < end);
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    size_t bytes = 4 << 20;
    char *to = shmem_malloc(bytes), *from = calloc(1, bytes);
    static long flag, sum, part;
    for (int turn = 0; turn < 10; turn++) {
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "exchange");
        shmem_putmem(to, from, bytes, (me + 1) % npes);
        for (int k = 0; k < 2000; k++) shmem_long_p(&part, k, (me + 1) % npes);
        shmem_barrier_all();
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "exchange");
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "solve");
        work(me == 0 ? 8e-3 : 4e-3);
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &part, 1);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "solve");
        /* One waits for the other, who works. */
        if (me == npes - 1) work(3e-3);
        if (me == npes - 1) shmem_long_p(&flag, turn + 1, 0);
        if (me == 0) shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn + 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

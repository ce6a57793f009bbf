/* Traffic, regions, call sites and late arrivals that are known by construction. PE i sends i + j + 1 puts of 16 bytes
 * and gets 2 words to each PE j, does one atomic on PE 0 and 3 puts on a context of its own. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long data[4096];
static long counter;

static void exchange(int me, int npes) {
    long local[4] = {0};
    for (int pe = 0; pe < npes; pe++) {
        for (int k = 0; k < me + pe + 1; k++) shmem_long_put(&data[8 * me], local, 2, pe); /* LINE exchange-put */
        for (int k = 0; k < 2; k++) local[0] += shmem_long_g(&data[0], pe); /* LINE exchange-g */
    }
    shmem_long_atomic_inc(&counter, 0);
    data[4095] = local[0];
}

static inline void inlined_put(int pe) {
    long value = 1;
    shmem_long_put(&data[100], &value, 1, pe); /* LINE inlined-put */
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "exchange");
    exchange(me, npes);
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "exchange");
    shmem_pcontrol(SHMEMX_PCONTROL_MARKER, "size", (double)me + 0.5);
    shmem_ctx_t ctx;
    if (shmem_ctx_create(0, &ctx) != 0) return 1;
    for (int k = 0; k < 3; k++) shmem_ctx_long_p(ctx, &data[200], k, next);
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    inlined_put(next);
    shmem_barrier_all();
    double outside = 0;
    for (int step = 0; step < 5; step++) {
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "step");
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "inner");
        /* The last PE is late. */
        if (me == npes - 1) usleep(20000);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, NULL);
        double begin = now();
        shmem_barrier_all(); /* LINE late-barrier */
        outside += now() - begin;
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "step");
    }
    static long block[1000];
    for (int batch = 0; batch < 4; batch++) {
        for (int k = 0; k < 10; k++) shmem_putmem_nbi(&data[1000], block, 4096, next);
        usleep(1000);
        shmem_quiet();
    }
    /* What the barriers took by a clock outside the library. */
    printf("outside %d %.0f\n", me, outside);
    shmem_pcontrol(SHMEMX_PCONTROL_FLUSH);
    if (argc > 1) {
        /* What is in the directory now must be enough. */
        char name[512];
        snprintf(name, sizeof name, "%s/pe-%05d.prof", argv[1], me);
        if (access(name, R_OK) != 0) return 2;
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* Stands still in a way that is known: stuck WAY. Announces it, so that others can look. */
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long lock;
static uint64_t word;
static void *object;

static void seen(int number)
{
    (void)number;
    static const char text[] = "handled\n";
    if (write(1, text, sizeof text - 1) < 0)
        _exit(1);
}

static void stand(const char *way)
{
    int me = shmem_my_pe();
    if (strcmp(way, "barrier") == 0 && me != 1) {
        shmem_barrier_all();
    } else if (strcmp(way, "wait") == 0 && me == 1) {
        shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 1);
    } else if (strcmp(way, "ring") == 0) {
        /* PE 0 holds the lock that PE 1 wants, and waits for PE 1. */
        if (me == 0)
            shmem_set_lock(&lock);
        shmem_sync_all();
        if (me == 1)
            shmem_set_lock(&lock);
        shmem_barrier_all();
    } else if (strcmp(way, "late") == 0) {
        /* Until PE 1 gets a signal. */
        if (me == 1) {
            signal(SIGUSR2, seen);
            pause();
        }
        shmem_barrier_all();
    } else if (strcmp(way, "team") == 0) {
        /* Those of the even PEs but PE 0; the others are not concerned. */
        shmem_team_t even;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (shmem_n_pes() + 1) / 2, NULL, 0, &even);
        if (even != SHMEM_TEAM_INVALID && me != 0)
            shmem_team_sync(even);
    } else if (strcmp(way, "set") == 0) {
        static long sync[SHMEM_BARRIER_SYNC_SIZE];
        if (me == 1)
            shmem_barrier(1, 0, shmem_n_pes() - 1, sync);
    } else if (strcmp(way, "request") == 0 && me != 2) {
        /* PE 2 does not begin it. */
        shmemx_req_h request;
        shmemx_team_sync_nb(SHMEM_TEAM_WORLD, &request);
        shmemx_wait_req(request);
    } else if (strcmp(way, "aset") == 0 && me != 2) {
        static long sync[SHMEM_REDUCE_SYNC_SIZE];
        static long sums[2];
        shmemx_request_handle_t request;
        shmemx_aset *all = shmemx_create_strided_aset(0, 1, shmem_n_pes());
        shmemx_long_sum_to_all_nb(&sums[0], &sums[1], 1, all, NULL, sync, &request);
        shmemx_req_wait(&request);
    } else if (strcmp(way, "quiet") == 0 && me == 0) {
        /* Until its peer is stopped. */
        for (;;) {
            shmem_uint64_put_nbi((uint64_t *)object + 1000, (uint64_t *)object, 1000, 1);
            shmem_quiet();
        }
    } else if (strcmp(way, "handler") == 0) {
        signal(SIGUSR1, seen);
    } else if (strcmp(way, "busy") == 0) {
        for (;;) {
            shmem_uint64_atomic_inc(&word, 0);
            usleep(100);
        }
    }
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    shmem_init();
    object = shmem_malloc(1000000);
    if (object == NULL)
        return 1;
    if (shmem_my_pe() == 0) {
        puts("ready");
        fflush(stdout);
    }
    stand(argc > 1 ? argv[1] : "");
    return 0;
}

/* What an operation without a handle came to is told by the call that completes it, which does its own work all the
 * same: barriers meet, objects are symmetric, locks are free. A finalize that is not the last one completes what others
 * wait for.
 * pes: 1 2 4 8
 */
#include "check.h"

#include <fcntl.h>
#include <shmemx.h>

enum { BYTES = 100 };

static char path[256], data[BYTES];
static long from_last, lock, work[SHMEM_BARRIER_SYNC_SIZE];
static shmemx_file_t empty;

/* PE 0 reads from a file that has nothing. */
static void read_nothing(void) {
    if (me == 0) CHECK_EQ(shmemx_file_read_at_nb(empty, data, BYTES, 0, NULL), 0);
}

/* The call before has told PE 0 of it, once. */
static void told(void) {
    CHECK_EQ(shmemx_error_last(NULL), me == 0 ? SHMEMX_ERROR_SHORT : SHMEMX_SUCCESS);
    shmemx_error_clear();
}

static void barriers(void) {
    for (int k = 0; k < SHMEM_BARRIER_SYNC_SIZE; k++) work[k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (long round = 1; round <= 20; round++) {
        read_nothing();
        if (me == npes - 1) {
            usleep(2000);
            shmem_long_p(&from_last, round, 0);
        }
        if (round % 2) shmem_barrier_all();
        else shmem_barrier(0, 0, npes, work);
        told();
        if (me == 0) CHECK_EQ(from_last, round);
        shmem_sync_all();
    }
}

static void objects(void) {
    for (long round = 0; round < 5; round++) {
        read_nothing();
        long *first = shmem_malloc(sizeof *first);
        told();
        long *second = shmem_calloc(2, sizeof *second);
        CHECK(first != NULL && second != NULL);
        shmem_long_p(first, round + me, (me + 1) % npes);
        shmem_long_p(&second[1], -me, (me + 1) % npes);
        shmem_barrier_all();
        int before = (me + npes - 1) % npes;
        CHECK_EQ(*first, round + before);
        CHECK_EQ(second[1], -before);
        CHECK_EQ(second[0], 0);
        read_nothing();
        shmem_free(second);
        told();
        shmem_free(first);
    }
}

static void locks(void) {
    shmem_set_lock(&lock);
    read_nothing();
    shmem_clear_lock(&lock);
    /* Within a host nothing has to be completed before a lock is free: then the next quiet tells. */
    shmem_quiet();
    told();
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
}

static void inner_finalize(void) {
    shmemx_req_h request;
    shmem_init();
    if (me == npes - 1) usleep(50000);
    CHECK_EQ(shmemx_team_sync_nb(SHMEM_TEAM_WORLD, &request), 0);
    if (me == 0) shmem_finalize();
    CHECK_EQ(shmemx_req_wait(&request), 0);
    if (me != 0) shmem_finalize();
}

int main(void) {
    begin();
    job_path(path, sizeof path, "results");
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR | O_CREAT | O_TRUNC, 0600, &empty), 0);
    if (me == 0) CHECK_EQ(unlink(path), 0);
    barriers();
    objects();
    locks();
    inner_finalize();
    /* The last one meets, too. */
    read_nothing();
    return end();
}

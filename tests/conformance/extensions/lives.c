/* Five lives of a job in one process: each ends with shmem_finalize and begins with shmem_init or start_pes. Nothing of
 * an earlier life is valid in a later one, which is told by a code and by words; what is begun is complete at the end
 * of its life, without being waited for.
 * pes: 1 2 4 13
 * limit: 100
 */
#include "check.h"

#include <fcntl.h>
#include <shmemx.h>

/* More of them in a soak. */
#ifndef LIVES
#define LIVES 5
#endif
enum { N = 256 };

static long target[N], source[N], counter;
static unsigned char block[N];
static char path[256];

static void last(int code, const char *routine, const char *part) {
    shmemx_error_t error = {.size = sizeof error};
    CHECKF(shmemx_error_last(&error) == code, "%d, not %d: %s", error.code, code, error.message);
    CHECKF(strstr(error.message, routine) == error.message, "%s: no %s", error.message, routine);
    CHECKF(strstr(error.message, part) != NULL, "%s: no %s", error.message, part);
    shmemx_error_clear();
}

/* What a life leaves behind. */
static shmemx_aset *sets[LIVES];
static shmem_team_t teams[LIVES];
static shmemx_file_t files[LIVES];
static shmemx_req_h requests[LIVES];

static void refused(int life) {
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    for (int k = 0; k < life; k++) {
        CHECK_EQ(shmemx_in_aset(sets[k]), 0);
        last(SHMEMX_ERROR_NO_SUCH, "shmemx_in_aset", "ended with shmem_finalize");
        shmemx_sync_aset(sets[k], NULL);
        last(SHMEMX_ERROR_NO_SUCH, "shmemx_sync_aset", "ended with shmem_finalize");
        CHECK(shmem_team_sync(teams[k]) != 0);
        last(SHMEMX_ERROR_NO_SUCH, "shmem_team_sync", "ended with shmem_finalize");
        CHECK_EQ(shmemx_file_write_at(files[k], block, 1, 0), SHMEMX_ERROR_NO_SUCH);
        last(SHMEMX_ERROR_NO_SUCH, "shmemx_file_write_at", "ended with shmem_finalize");
        CHECK_EQ(shmemx_file_close(files[k]), SHMEMX_ERROR_NO_SUCH);
        last(SHMEMX_ERROR_NO_SUCH, "shmemx_file_close", "ended with shmem_finalize");
        /* Complete since its life's end. */
        shmemx_req_h request = requests[k];
        CHECK(shmemx_req_wait(&request) <= 0);
        CHECK(request == SHMEMX_REQ_INVALID || request == requests[k]);
        CHECK_EQ(shmemx_test_req(requests[k]), 1);
        shmemx_wait_req(requests[k]);
    }
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_SUCCESS);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_FATAL, NULL), 0);
}

static void live(int life) {
    for (long k = 0; k < N; k++) source[k] = me * 1000 + k + life, target[k] = -1;
    shmem_barrier_all();
    refused(life);
    sets[life] = shmemx_create_strided_aset(npes - 1, -1, npes);
    CHECK(sets[life] != NULL);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &teams[life]), 0);
    CHECK_EQ(shmemx_file_open(teams[life], path, O_RDWR | O_CREAT, 0600, &files[life]), 0);
    /* What the life before has written is there, though its file was not closed. */
    if (life > 0) {
        CHECK_EQ(shmemx_file_read_at(files[life], block, N, (long)me * N), N);
        for (int k = 0; k < N; k++) CHECK_EQ(block[k], (unsigned char)(me + life - 1));
    }
    shmem_barrier_all();
    memset(block, me + life, N);
    shmemx_req_h sum;
    CHECK_EQ(shmemx_long_sum_reduce_nb(teams[life], target, source, N, &sum), 0);
    CHECK_EQ(shmemx_file_write_at_all_nb(files[life], block, N, (long)me * N, &requests[life]), 0);
    if (life % 2) {
        CHECK_EQ(shmemx_req_wait(&sum), 0);
        for (long k = 0; k < N; k++) CHECK_EQ(target[k], (long)npes * (npes - 1) / 2 * 1000 + npes * (k + life));
    }
    shmemx_long_add_nb(&counter, 1, (me + 1) % npes, NULL);
    CHECK_EQ(shmemx_job_state(), SHMEMX_OK);
    CHECK_EQ(shmemx_failed_pes(NULL, 0), 0);
    for (int pe = 0; pe < npes; pe++) CHECK(shmemx_pe_state(pe) != SHMEMX_PE_LOST);
    CHECK_EQ(shmemx_pe_state(me), SHMEMX_PE_ALIVE);
}

int main(void) {
    for (int life = 0; life < LIVES; life++) {
        if (life % 2) start_pes(0);
        else shmem_init();
        me = shmem_my_pe();
        npes = shmem_n_pes();
        if (life == 0) job_path(path, sizeof path, "lives");
        live(life);
        shmem_finalize();
        CHECK_EQ(counter, life + 1);
        for (long k = 0; life % 2 == 0 && k < N; k++)
            CHECK_EQ(target[k], (long)npes * (npes - 1) / 2 * 1000 + npes * (k + life));
    }
    if (me == 0) CHECK_EQ(unlink(path), 0);
    return 0;
}

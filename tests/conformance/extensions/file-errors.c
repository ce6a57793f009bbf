/* What goes wrong with files: each member hears of it by a code and by words, whoever it happened to, and goes on.
 * pes: 1 2 4 8
 * limit: 100
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <shmemx.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { BLOCK = 4096 };

static unsigned char data[BLOCK];
static char path[256];

/* The last error: its code, the PE that it names, and a part of its words. */
static void last(int code, int peer, const char *routine, const char *part) {
    shmemx_error_t error = {.size = sizeof error};
    CHECK_EQ(shmemx_error_last(&error), code);
    CHECK_EQ(error.code, code);
    CHECKF(strstr(error.message, part) != NULL, "%s: no %s", error.message, part);
    if (peer >= -1) CHECKF(error.peer == peer, "%s: PE %d, not %d", error.message, error.peer, peer);
    if (routine != NULL) {
        CHECK(error.op >= 0);
        CHECKF(strcmp(shmemx_op_name(error.op), routine) == 0, "%s: %s", error.message, shmemx_op_name(error.op));
        CHECKF(strncmp(error.message, routine, strlen(routine)) == 0, "%s", error.message);
    }
    shmemx_error_clear();
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_SUCCESS);
    CHECK_EQ(error.size, sizeof error);
}

static void not_opened(const char *name, int flags, const char *why) {
    shmemx_file_t file = (shmemx_file_t)(void *)data;
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, name, flags, 0600, &file), SHMEMX_ERROR_IO);
    CHECK(file == SHMEMX_FILE_INVALID);
    last(SHMEMX_ERROR_IO, -2, "shmemx_file_open", why);
}

/* Each way of writing to a file that takes nothing. */
static void refused(shmemx_file_t file, const char *why) {
    long at = (long)me * BLOCK;
    CHECK_EQ(shmemx_file_write_at(file, data, BLOCK, at), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, -1, "shmemx_file_write_at", why);
    CHECK_EQ(shmemx_file_write_at_all(file, data, BLOCK, at), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, -2, "shmemx_file_write_at_all", why);
    CHECK_EQ(shmemx_file_write_ordered(file, data, BLOCK), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, -2, "shmemx_file_write_ordered", why);
    CHECK_EQ(shmemx_file_write_strided_all(file, data, 8, 16, 8L * npes, 8L * me), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, -2, "shmemx_file_write_strided_all", why);
    /* Nothing to write is no error, of this member's or of another's. */
    int result = shmemx_file_write_at_all(file, data, me == 0 ? 8 : 0, 0);
    CHECK_EQ(result, SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, me == 0 ? -1 : 0, NULL, why);
    CHECK_EQ(shmemx_file_write_at_all(file, data, 0, 0), 0);
    shmemx_req_h requests[3];
    for (int way = 0; way < 6; way++) {
        if (way % 2) CHECK_EQ(shmemx_file_write_at_nb(file, data, BLOCK, at, &requests[0]), 0);
        else CHECK_EQ(shmemx_file_write_at_all_nb(file, data, BLOCK, at, &requests[0]), 0);
        if (way / 2 == 0) {
            CHECK_EQ(shmemx_req_wait(&requests[0]), SHMEMX_ERROR_IO);
        } else if (way / 2 == 1) {
            int state;
            while ((state = shmemx_req_test(&requests[0])) == 1) { }
            CHECK_EQ(state, SHMEMX_ERROR_IO);
        } else {
            shmemx_wait_req(requests[0]);
        }
        last(SHMEMX_ERROR_IO, -2, NULL, why);
        if (way / 2 < 2) CHECK(requests[0] == SHMEMX_REQ_INVALID);
    }
    requests[0] = requests[2] = SHMEMX_REQ_INVALID;
    CHECK_EQ(shmemx_file_write_at_nb(file, data, BLOCK, at, &requests[1]), 0);
    CHECK_EQ(shmemx_req_wait_all(3, requests), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, -2, NULL, why);
    /* Where there is no handle, what completes it is told. */
    CHECK_EQ(shmemx_file_write_at_nb(file, data, BLOCK, at, NULL), 0);
    shmem_quiet();
    last(SHMEMX_ERROR_IO, -1, "shmem_quiet", why);
}

static int called, with;
static void handler(const shmemx_error_t *error, void *given) {
    called += error->code == SHMEMX_ERROR_IO && error->size == sizeof *error &&
        strstr(error->message, "device") != NULL;
    with = *(int *)given;
}

static void full_disk(void) {
    shmemx_file_t file;
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/full", O_RDWR, 0, &file), 0);
    refused(file, "No space left on device");
    /* A handler of one's own is called, and the code is given as well. */
    int four = 4;
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, handler, &four), 0);
    CHECK_EQ(shmemx_file_write_at_all(file, data, BLOCK, 0), SHMEMX_ERROR_IO);
    CHECK_EQ(called, 1);
    CHECK_EQ(with, 4);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_FATAL, NULL), 0);
    CHECK_EQ(shmemx_file_write_at_all(file, data, BLOCK, 0), SHMEMX_ERROR_IO);
    CHECK_EQ(called, 1);
    shmemx_error_clear();
    CHECK_EQ(shmemx_file_close(file), 0);
}

static void read_only(void) {
    shmemx_file_t file;
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDONLY, 0, &file), 0);
    refused(file, "it was not opened for that");
    CHECK_EQ(shmemx_file_truncate(file, 0), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, me == 0 ? -1 : 0, "shmemx_file_truncate", "truncate of");
    CHECK_EQ(shmemx_file_close(file), 0);
}

/* Room for the first half of what all write: who is in front of it knows that another one failed. */
static void half_full(void) {
    shmemx_file_t file;
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR | O_TRUNC, 0, &file), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = BLOCK / 2 + (unsigned)(npes - 1) * BLOCK;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    memset(data, me + 1, BLOCK);
    CHECK_EQ(shmemx_file_write_at_all(file, data, BLOCK, (long)me * BLOCK), SHMEMX_ERROR_IO);
    last(SHMEMX_ERROR_IO, me == npes - 1 ? -1 : npes - 1, "shmemx_file_write_at_all", "File too large");
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    /* What there was room for is there. */
    off_t size = 0;
    CHECK_EQ(shmemx_file_size(file, &size), 0);
    CHECK_EQ(size, (long)limit.rlim_cur);
    memset(data, 0, BLOCK);
    CHECK_EQ(shmemx_file_read_at(file, data, BLOCK, (long)me * BLOCK), me == npes - 1 ? BLOCK / 2 : BLOCK);
    for (int k = 0; k < BLOCK / 2; k++) CHECK_EQ(data[k], (me + 1) & 255);
    CHECK_EQ(shmemx_file_close(file), 0);
}

/* Mistakes, where the program wants to hear of them. */
static void mistakes(void) {
    shmemx_file_t file, gone;
    CHECK(shmemx_file_open(SHMEM_TEAM_INVALID, path, O_RDWR, 0, &file) != 0);
    CHECK(file == SHMEMX_FILE_INVALID);
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR, 0, &file), 0);
    gone = file;
    CHECK_EQ(shmemx_file_close(file), 0);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    CHECK_EQ(shmemx_file_close(gone), SHMEMX_ERROR_NO_SUCH);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_file_close", "was closed already");
    CHECK_EQ(shmemx_file_read_at(SHMEMX_FILE_INVALID, data, 1, 0), SHMEMX_ERROR_NO_SUCH);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_file_read_at", "SHMEMX_FILE_INVALID");
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR | O_APPEND, 0, &file), SHMEMX_ERROR_ARGUMENT);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_file_open", "O_APPEND");
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR, 0, &file), 0);
    unsigned char local[8];
    CHECK_EQ(shmemx_file_write_at(file, local, 8, 0), SHMEMX_ERROR_ADDRESS);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmemx_file_write_at", "not a symmetric address");
    CHECK_EQ(shmemx_file_write_at_all(file, data, 8, -1), SHMEMX_ERROR_ARGUMENT);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_file_write_at_all", "offset = -1");
    CHECK_EQ(shmemx_file_write_strided_all(file, data, 8, 3, -8, 8), SHMEMX_ERROR_ARGUMENT);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_file_write_strided_all", "stride = -8");
    CHECK_EQ(shmemx_file_write_at_nb(file, data, 8, INT64_MAX - 2, NULL), SHMEMX_ERROR_ARGUMENT);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_file_write_at_nb", "offset");
    CHECK_EQ(shmemx_file_truncate(file, -5), SHMEMX_ERROR_ARGUMENT);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_file_truncate", "size = -5");
    CHECK_EQ(shmemx_file_size(file, NULL), SHMEMX_ERROR_ADDRESS);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmemx_file_size", "size is a null pointer");
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_FATAL, NULL), 0);
    CHECK_EQ(shmemx_file_close(file), 0);
}

int main(void) {
    begin();
    job_path(path, sizeof path, "file-errors");
    not_opened(path, O_RDWR, "No such file or directory");
    not_opened("/nowhere/at/all", O_RDWR | O_CREAT, "No such file or directory");
    not_opened("/", O_RDWR, "Is a directory");
    shmemx_file_t file;
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR | O_CREAT | O_EXCL, 0600, &file), 0);
    CHECK_EQ(shmemx_file_close(file), 0);
    not_opened(path, O_RDWR | O_CREAT | O_EXCL, "File exists");
    full_disk();
    read_only();
    half_full();
    mistakes();
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(unlink(path), 0);
    return end();
}

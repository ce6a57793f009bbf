/* Calls that fail, and of which the last error of the thread tells: on no team, and files by flags that cannot be. */
#include <fcntl.h>
#include <shmemx.h>

#include "check.h"

static void told(int code, const char *routine, const char *why) {
    shmemx_error_t error = {.size = sizeof error};
    CHECK(code != 0);
    CHECK_EQ(shmemx_error_last(&error), code);
    CHECKF(strstr(error.message, routine) != NULL, "%s: no %s", error.message, routine);
    CHECKF(strstr(error.message, why) != NULL, "%s: no %s", error.message, why);
    shmemx_error_clear();
}

int main(void) {
    shmemx_file_t file;
    shmemx_space_t space;
    shmem_team_t left;
    begin();
    /* No handler is set: a mistake would end the job. */
    told(shmemx_file_open(SHMEM_TEAM_INVALID, "/dev/null", O_RDWR, 0, &file), "shmemx_file_open", "SHMEM_TEAM_INVALID");
    told(shmemx_space_create(SHMEM_TEAM_INVALID, NULL, 0, &space), "shmemx_space_create", "SHMEM_TEAM_INVALID");
    told(shmemx_team_shrink(SHMEM_TEAM_INVALID, &left), "shmemx_team_shrink", "SHMEM_TEAM_INVALID");
    /* On no team nothing begins: there is no request. */
    static long source[1], dest[64];
    shmemx_req_h request = 12345;
    CHECK(shmemx_long_sum_reduce_nb(SHMEM_TEAM_INVALID, dest, source, 1, &request) != 0);
    CHECK(request == SHMEMX_REQ_INVALID);
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    told(shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/null", O_PATH, 0, &file), "shmemx_file_open", "without O_PATH");
    told(shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/null", -1, 0, &file), "shmemx_file_open", "flags of open(2)");
    shmem_finalize();
    return 0;
}

/* An initialization that returns an error is none: the next one is the first, and its finalize the last.
 * pes: 1 2 3
 */
#define _GNU_SOURCE
#include "check.h"

#include <shmemx.h>
#include <stdlib.h>

static int initialized(void) {
    int is = -1;
    shmem_query_initialized(&is);
    return is;
}

int main(void) {
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    const char *had = getenv("SHMEM_COLLECTIVES");
    for (int turn = 0; turn < 2; turn++) {
        int provided;
        setenv("SHMEM_COLLECTIVES", "nonsense", 1);
        CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) < 0);
        CHECK_EQ(initialized(), 0);
    }
    if (had != NULL) setenv("SHMEM_COLLECTIVES", had, 1);
    else unsetenv("SHMEM_COLLECTIVES");
    begin();
    CHECK_EQ(initialized(), 1);
    int status = end();
    if (initialized() != 0) {
        fprintf(stderr, "the only finalize was not the last\n");
        status = 1;
    }
    return status;
}

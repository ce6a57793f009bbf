/* What ends a job that goes on without PEs that are killed, by the first argument. */
#include "survive.h"

int main(int argc, char **argv) {
    (void)argc;
    const char *what = argv[1];
    const char *rank = getenv("PELLUCID_PE");
    if (strcmp(what, "init") == 0 && rank != NULL && atoi(rank) == 1) die("kill");
    begin();
    static long word;
    shmem_barrier_all();
    if (strcmp(what, "all") == 0) {
        shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
        for (int pe = 0; pe < npes; pe++) {
            if (pe != me) leave_before(pe, 0);
        }
        leave_before(me, npes - 1);
        die("kill");
    }
    leave_before(1, npes - 1);
    if (me == 1) {
        if (strcmp(what, "exit") == 0) exit(3);
        if (strcmp(what, "global-exit") == 0) shmem_global_exit(4);
        die("kill");
    }
    if (strcmp(what, "fatal") == 0) shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
    for (;;) pause();
}

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
    if (strcmp(what, "all") == 0) die("kill");
    if (me == 1) {
        if (strcmp(what, "exit") == 0) exit(3);
        if (strcmp(what, "global-exit") == 0) shmem_global_exit(4);
        die("kill");
    }
    if (strcmp(what, "fatal") == 0) shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
    for (;;) pause();
}

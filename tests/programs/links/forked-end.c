/* A forked child of PE 0 runs the exit handlers that PE 0 has registered, one of which finalizes the library: that is
 * the child's own matter, and the job goes on. With the argument "init" a child initializes the library, which it must
 * not. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_child;

static void handler(void) {
    int initialized;
    shmem_query_initialized(&initialized);
    if (initialized) shmem_finalize();
    shmem_query_initialized(&initialized);
    if (is_child && initialized) _exit(3);
    /* A call too many does nothing. */
    if (is_child) shmem_finalize();
}

/* Ends a child by `exit`, and gives its status. */
static int child(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        exit(0);
    }
    int status;
    return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char **argv) {
    shmem_init();
    atexit(handler);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    static long sum;
    if (argc > 1 && strcmp(argv[1], "init") == 0) {
        if (me == 0 && fork() == 0) shmem_init();
        for (;;) pause();
    }
    if (me == 0 && child() != 0) return 1;
    shmem_barrier_all();
    shmem_long_atomic_add(&sum, me + 1, 0);
    shmem_barrier_all();
    if (me == 0 && sum != (long)npes * (npes + 1) / 2) return 2;
    /* Once more where it has two initializations to end. */
    shmem_init();
    if (me == 0 && child() != 0) return 4;
    shmem_finalize();
    shmem_barrier_all();
    printf("ended\n");
    return 0;
}

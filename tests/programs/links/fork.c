/* A forked child has its own copy of static and heap objects, as fork promises; the parent goes on undisturbed. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long fixed = 1;
static char page[20000];

/* In a child, which has stored 42: its own child has that as well, and a copy of its own. */
static int second_level(void) {
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        if (fixed != 42 || page[10000] != 'z') _exit(2);
        fixed = 43;
        page[10000] = 'y';
        _exit(fixed == 43 && page[10000] == 'y' ? 0 : 3);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 4;
    return fixed == 42 && page[10000] == 'z' ? 0 : 5;
}

/* A child for whose copy there is no memory must not go on: its stores would be its parent's. */
static int without_memory(void) {
    struct rlimit before, none;
    if (getrlimit(RLIMIT_AS, &before) != 0) return 1;
    none = before;
    none.rlim_cur = 1 << 20;
    if (setrlimit(RLIMIT_AS, &none) != 0) return 2;
    pid_t child = fork();
    if (child == 0) _exit(0);
    if (setrlimit(RLIMIT_AS, &before) != 0 || child < 0) return 3;
    int status;
    if (waitpid(child, &status, 0) != child) return 4;
    return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 0 : 5;
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long *heap = shmem_malloc(sizeof(long));
    *heap = 2;
    page[10000] = 'a';
    shmem_barrier_all();
    for (int round = 0; round < 3; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child < 0) return 1;
        if (child == 0) {
            if (fixed != 1 || page[10000] != 'a') _exit(2);
            fixed = 42;
            memset(page, 'z', sizeof page);
            char *private = malloc(100000);
            memset(private, 1, 100000);
            int second = second_level();
            if (second != 0) _exit(10 + second);
            _exit(fixed == 42 && page[0] == 'z' ? 0 : 3);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "PE %d: the child ended with %x\n", me, status);
            return 4;
        }
        if (fixed != 1 || page[10000] != 'a' || page[0] == 'z') {
            fprintf(stderr, "PE %d: the child's stores are seen: %ld %c\n", me, fixed, page[10000]);
            return 5;
        }
        /* And still symmetric after the fork. */
        shmem_barrier_all();
        shmem_long_p(heap, 10 + round, next);
        shmem_long_p(&fixed, 20 + round, next);
        shmem_barrier_all();
        if (*heap != 10 + round || fixed != 20 + round) return 6;
        fixed = 1;
        shmem_barrier_all();
    }
    /* A child that ends with exit, running the handlers, does not take the job along; nor does one that runs a
     * command. */
    pid_t child = fork();
    if (child == 0) exit(0);
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) return 7;
    if (system("exit 0") != 0) return 8;
    if (without_memory() != 0) return 9;
    shmem_barrier_all();
    printf("forked\n");
    shmem_finalize();
    return 0;
}

/* Closes all descriptors above 2 after shmem_init, as daemons and sandboxes do, and opens its own, which get the
   numbers: MODE says what, and what it does then. */
#include <fcntl.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 40, BYTES = 300000 };

static char data[BYTES];
static int files[FILES];
static long word, kept = 42;

static void open_own(int pipes) {
    for (int i = 0; i < FILES; i++) {
        char name[50];
        int ends[2];
        snprintf(name, sizeof name, "own.%d.%d", shmem_my_pe(), i);
        if (pipes && pipe(ends) == 0)
            continue;
        files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (files[i] < 0 || write(files[i], data, BYTES) != BYTES || lseek(files[i], 7, SEEK_SET) != 7)
            exit(9);
    }
}

/* What each file has, and where it stands. */
static int are_as_they_were(void) {
    static char found[BYTES + 1];
    for (int i = 0; i < FILES; i++)
        if (lseek(files[i], 0, SEEK_CUR) != 7 || pread(files[i], found, sizeof found, 0) != BYTES ||
            memcmp(found, data, BYTES) != 0)
            return 0;
    return 1;
}

/* A child has variables of its own with what its parent's had. */
static int forks(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        int right = kept == 42 && data[BYTES - 1] == 'x';
        kept = 1;
        _exit(right ? 3 : 4);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3 && kept == 42;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "files";
    memset(data, 'x', sizeof data);
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes(), right = 1;
    shmem_long_p(&word, 1, next);
    shmem_barrier_all();
    for (int i = 3; i < 1024; i++)
        close(i);
    if (strcmp(mode, "closed") != 0)
        open_own(strcmp(mode, "pipes") == 0);
    right &= forks();
    for (int i = 0; i < 40000; i++) {
        shmem_long_p(&word, i, next);
        if (i % 100 == 0)
            shmem_barrier_all();
    }
    if (strcmp(mode, "crash") == 0 && me == 1)
        abort();
    shmem_barrier_all();
    if (strcmp(mode, "crash") == 0)
        pause();
    shmem_finalize();
    if (strcmp(mode, "files") == 0)
        right &= are_as_they_were();
    printf("PE %d: %s\n", me, right ? "right" : "WRONG");
    return !right;
}

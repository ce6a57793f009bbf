/* A child of a fork whose copy of the static objects takes long, as that of a large array does: it has what was there
 * at the fork, however long that takes. The library copies by pread, for which the program has its own here. A parent
 * whose child ends meanwhile goes on without it. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char large[1 << 20];
static volatile pid_t parent;
static volatile int is_slow, ends;

ssize_t pread(int fd, void *to, size_t bytes, off_t at) {
    if (parent != 0 && getpid() != parent) {
        if (ends) raise(SIGKILL);
        /* Longer than a parent waits for a child that does not begin. */
        if (is_slow) usleep(500000);
        if (bytes > sizeof large / 8) bytes = sizeof large / 8;
    }
    return syscall(SYS_pread64, fd, to, bytes, at);
}

/* The status of a child that has 1 in all of the array, while its parent stores 2. */
static int of_child(void) {
    int status = -1;
    memset(large, 1, sizeof large);
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        for (size_t i = 0; i < sizeof large; i++)
            if (large[i] != 1) _exit(1);
        _exit(0);
    }
    memset(large, 2, sizeof large);
    waitpid(child, &status, 0);
    return status;
}

int main(void) {
    shmem_init();
    parent = getpid();
    is_slow = 1;
    int slow = of_child();
    is_slow = 0;
    ends = 1;
    int ended = of_child();
    ends = 0;
    int last = of_child();
    shmem_barrier_all();
    printf("children: %d %d %d\n", slow, WIFSIGNALED(ended) ? WTERMSIG(ended) : 0, last);
    shmem_finalize();
    return slow == 0 && last == 0 ? 0 : 1;
}

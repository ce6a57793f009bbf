/* A call fails while its operation is under way: PE 1, which it is to, is stopped, and meanwhile the connections of
 * PE 2 end, to which something else is under way. When PE 1 goes on, what it answers must not come to the memory that
 * the call had its result in: by then it is another function's. */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static long word, many[20000], mine[20000];

/* Stops this process for a while; `cut`: and ends its connections. */
static void stop(unsigned before, int cut, unsigned after) {
    if (fork() != 0) return;
    kill(getppid(), SIGSTOP);
    usleep(before);
    for (int fd = 3; cut && fd < 300; fd++) shutdown(fd, SHUT_RDWR);
    usleep(after);
    kill(getppid(), SIGCONT);
    _exit(0);
}

/* Bytes of the stack that change while this function has them. */
static int changed(void) {
    volatile unsigned char stack[32768];
    int bytes = 0;
    for (size_t i = 0; i < sizeof stack; i++) stack[i] = 0x5a;
    for (int turn = 0; turn < 60; turn++) usleep(50000);
    for (size_t i = 0; i < sizeof stack; i++) bytes += stack[i] != 0x5a;
    return bytes;
}

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe();
    long before;
    word = 0x1122334455667788 + me;
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, 0);
    for (int pe = 0; pe < 3; pe++) shmem_long_atomic_fetch(&word, pe);
    shmem_getmem(&before, &word, sizeof before, (me + 1) % 3);
    shmem_barrier_all();
    if (me == 1) stop(2500000, 0, 0);
    if (me == 2) stop(600000, 1, 8000000);
    if (me == 0) {
        usleep(200000);
        shmem_getmem_nbi(mine, many, sizeof many, 2);
        if (count > 1 && strcmp(arguments[1], "g") == 0) shmem_long_g(&word, 1);
        else shmem_long_atomic_fetch(&word, 1);
        shmemx_error_t error = {.size = sizeof error};
        int status = shmemx_error_last(&error);
        int bytes = changed();
        printf("status %d, %d bytes of the stack changed\n", status, bytes);
        fflush(stdout);
        shmem_global_exit(status == 0 || bytes != 0);
    }
    sleep(12);
    return 1;
}

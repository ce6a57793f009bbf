/* The program's handlers run while a tool has a call of the program: one of a signal, one of an error. */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>

static long word, calls;

static void put(int count) {
    for (int i = 0; i < count; i++) {
        shmem_long_p(&word, i, shmem_my_pe());
        calls++;
    }
}

static void interrupted(int signal) {
    (void)signal;
    put(1);
}

static void failed(const shmemx_error_t *error, void *data) {
    (void)error;
    (void)data;
    put(10);
}

int main(void) {
    shmem_init();
    signal(SIGUSR1, interrupted);
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, failed, NULL);
    /* The tool raises the signal in each. */
    for (int i = 0; i < 20; i++) shmem_barrier_all();
    for (int i = 0; i < 5; i++) shmem_putmem(&word, &word, 8, 99);
    printf("program: p %ld\n", calls);
    fflush(stdout);
    shmem_finalize();
    return 0;
}

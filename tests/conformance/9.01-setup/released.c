/* 9.1.4: the last finalize releases the symmetric heap: its memory is the system's again, and whoever still uses it is ended
 * by a signal. What is allocated after another initialization is there, and zero where it is asked for so.
 * pes: 1 2 3
 * hosts: one
 * environment: SHMEM_SYMMETRIC_SIZE=64m
 * needs: shmem_malloc shmem_calloc
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 24 << 20 };

/* Kibibytes of shared memory that this process has touched. */
static long resident(void) {
    FILE *file = fopen("/proc/self/status", "r");
    CHECK(file != NULL);
    char line[256];
    long found = -1;
    while (found < 0 && fgets(line, sizeof line, file) != NULL) sscanf(line, "RssShmem: %ld", &found);
    fclose(file);
    CHECK(found >= 0);
    return found;
}

/* The signal that ends a child that reads there, 0 where it can. */
static int reading(volatile char *from) {
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGSEGV, SIG_DFL);
        _exit(*from == 7 ? 1 : 0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        begin();
        char *zero = shmem_calloc(BYTES, 1);
        CHECK(zero != NULL);
        for (long at = 0; at < BYTES; at += 1024) CHECK_EQ(zero[at], 0);
        memset(zero, 7, BYTES);
        shmem_barrier_all();
        long before = resident();
        CHECK(before >= BYTES / 1024);
        shmem_finalize();
        /* The kernel's number is exact to some pages of each processor. */
        CHECK(resident() <= before - BYTES / 2048);
        CHECK_EQ(reading(zero), SIGSEGV);
    }
    return 0;
}

/* Handlers of pthread_atfork that a program registers before shmem_init, in a constructor or in main: what they store
 * in the child is the child's. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static long early = 1, late = 1, of_parent = 1;

static void early_child(void) {
    early = getpid();
}

static void late_child(void) {
    late = getpid();
}

static void parent(void) {
    of_parent++;
}

__attribute__((constructor)) static void begin(void) {
    pthread_atfork(NULL, parent, early_child);
}

int main(void) {
    pthread_atfork(NULL, NULL, late_child);
    shmem_init();
    int wrong = 0;
    for (int round = 0; round < 5; round++) {
        pid_t child = fork();
        if (child < 0) return 9;
        if (child == 0) _exit(early == getpid() && late == getpid() && of_parent == 1 + round ? 0 : 1);
        int status;
        if (waitpid(child, &status, 0) != child || status != 0) wrong = 2;
        if (early != 1 || late != 1) wrong = 3;
        if (of_parent != 2 + round) wrong = 4;
    }
    if (wrong) printf("PE %d: %d: %ld, %ld, %ld\n", shmem_my_pe(), wrong, early, late, of_parent);
    shmem_finalize();
    return wrong;
}

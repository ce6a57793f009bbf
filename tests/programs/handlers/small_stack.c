/* Puts from a thread, or from a handler on a signal stack, with so many KiB of stack: `thread 16`, `signal 8`. */
#include <pthread.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long word;
static int next;
static volatile int done;

static void put(void) {
    shmem_long_p(&word, 7, next);
    shmem_quiet();
    done = 1;
}

static void *in_thread(void *unused) {
    put();
    return unused;
}

static void in_handler(int number) {
    (void)number;
    put();
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    size_t bytes = (size_t)atol(arguments[2]) << 10;
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    /* Below the stack there is nothing: what goes beyond it crashes. */
    char *room = mmap(NULL, bytes + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mprotect(room + 65536, bytes, PROT_READ | PROT_WRITE) != 0) return 3;
    shmem_barrier_all();
    if (strcmp(arguments[1], "thread") == 0) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        if (pthread_attr_setstack(&attributes, room + 65536, bytes) != 0) return 4;
        if (pthread_create(&thread, &attributes, in_thread, NULL) != 0) return 5;
        pthread_join(thread, NULL);
    } else {
        stack_t stack = {.ss_sp = room + 65536, .ss_size = bytes};
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = in_handler;
        action.sa_flags = SA_ONSTACK;
        if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0) return 6;
        raise(SIGUSR1);
    }
    shmem_barrier_all();
    if (done && word == 7) printf("PE %d has it\n", shmem_my_pe());
    shmem_finalize();
    return 0;
}

/* What the program does on signals is its own affair: initialization, which loads libraries, leaves it as it is. Only
 * crashes that nobody handles are noted on their way. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>

static void handler(int number) { (void)number; }

static int is_crash(int number) {
    return number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGABRT || number == SIGSYS;
}

int main(void) {
    static void (*before[32])(int);
    struct sigaction action;
    signal(SIGTERM, handler);
    signal(SIGINT, SIG_IGN);
    signal(SIGSEGV, handler);
    for (int number = 1; number < 32; number++)
        before[number] = sigaction(number, NULL, &action) == 0 ? action.sa_handler : NULL;
    shmem_init();
    for (int number = 1; number < 32; number++) {
        if (is_crash(number) && before[number] == SIG_DFL) continue;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != before[number]) {
            printf("PE %d: signal %d has another handler\n", shmem_my_pe(), number);
            shmem_global_exit(1);
        }
    }
    shmem_finalize();
    return 0;
}

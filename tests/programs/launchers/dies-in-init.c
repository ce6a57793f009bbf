/* The task with the number of the first argument is killed inside shmem_init, after all have met for the first time:
 * where it opens the network, it loads the second argument, which is this file once more. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OBJECT
__attribute__((constructor)) static void die(void) {
    kill(getpid(), SIGKILL);
}
#else
#include <shmem.h>

int main(int count, char **arguments) {
    const char *task = getenv("SLURM_PROCID");
    if (count > 2 && task && atoi(task) == atoi(arguments[1])) setenv("SHMEM_OFI_LIBRARY", arguments[2], 1);
    shmem_init();
    shmem_finalize();
    return 0;
}
#endif

/* Runs a command from within a PE, and leaves with its status. */
#include <shmem.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char **argv) {
    shmem_init();
    int status = argc > 1 && shmem_my_pe() == 0 ? system(argv[1]) : 0;
    shmem_barrier_all();
    shmem_finalize();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

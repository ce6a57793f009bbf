/* PE 0 starts another program while the others wait. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

int main(int count, char **arguments) {
    shmem_init();
    if (shmem_my_pe() == 0 && count > 1) {
        int status = system(arguments[1]);
        printf("the program ended with %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        fflush(stdout);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

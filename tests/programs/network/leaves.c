/* Each PE says which process it is and leaves as the argument has it. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    shmem_init();
    shmem_long_p(&word, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    printf("%d\n", (int)getpid());
    fflush(stdout);
    shmem_barrier_all();
    if (!strcmp(way, "finalize")) {
        shmem_finalize();
    }
    if (!strcmp(way, "global_exit")) {
        shmem_global_exit(3);
    }
    return strcmp(way, "exit") ? 0 : 3;
}

/* global_exit runs the handlers and flushes the files of the PE that calls it. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void handler(void) { fprintf(stderr, "handler ran\n"); }

int main(int count, char **arguments) {
    shmem_init();
    atexit(handler);
    if (shmem_my_pe() == 0) {
        if (count > 1) {
            FILE *file = fopen(arguments[1], "w");
            if (file != NULL) fprintf(file, "kept in a buffer");
        }
        shmem_global_exit(3);
    }
    shmem_barrier_all();
    return 0;
}

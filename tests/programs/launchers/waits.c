/* Waits for what never comes: in the library, or without it. The first argument says how, PE 0 makes the file of the
 * second as soon as all are there. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static long word;

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe();
    const char *what = count > 1 ? arguments[1] : "";
    shmem_barrier_all();
    if (me == 0 && count > 2) {
        FILE *file = fopen(arguments[2], "w");
        if (file == NULL || fclose(file) != 0) return 1;
    }
    if (strcmp(what, "until") == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    if (strcmp(what, "barrier") == 0 && me != 0) shmem_barrier_all();
    for (volatile long k = 0;; k++) {}
}

/* Started with some of its standard streams closed, which the argument lists. Nothing can be written to them, as
 * before, and what the program prints comes to no symmetric memory and to no other PE. */
#include <errno.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 100000, LINES = 200000 };

static long word;

int main(int argc, char **argv) {
    shmem_init();
    int n = shmem_n_pes();
    long *words = shmem_calloc(WORDS, sizeof(long));
    for (const char *closed = argc > 1 ? argv[1] : ""; *closed; closed++) {
        if (write(*closed - '0', "x", 1) != -1 || errno != EBADF) {
            return 2;
        }
    }
    for (int i = 0; i < LINES; i++) {
        printf("this is line %d of the program\n", i);
        if (i % 1000 == 0) {
            fprintf(stderr, "and this is line %d of its errors\n", i);
        }
    }
    fflush(stdout);
    shmem_long_atomic_add(&word, 1, (shmem_my_pe() + 1) % n);
    shmem_barrier_all();
    if (word != 1) {
        return 3;
    }
    for (int i = 0; i < WORDS; i++) {
        if (words[i] != 0) {
            return 4;
        }
    }
    shmem_finalize();
    return 0;
}

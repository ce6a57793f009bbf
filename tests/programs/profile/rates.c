/* Puts whose rate is known to be held up by one thing, or by nothing: first (pages that nobody has touched), busy (all
 * PEs at once), strided, well. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1 << 20)
enum { CHUNKS = 64, TURNS = 64, ELEMENTS = 4096 };

int main(int count, char **arguments) {
    if (count < 2) return 2;
    const char *what = arguments[1];
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    size_t chunks = strcmp(what, "first") == 0 ? CHUNKS : 1;
    char *to = shmem_malloc(chunks * 4 * MIB);
    char *from = malloc(4 * MIB);
    long *elements = shmem_malloc(2 * ELEMENTS * sizeof *elements);
    if (to == NULL || from == NULL || elements == NULL) return 1;
    memset(from, 1, 4 * MIB);
    memset(elements, 1, 2 * ELEMENTS * sizeof *elements);
    if (chunks == 1) {
        memset(to, 1, 4 * MIB);
        /* This process has not seen the other's pages either. */
        shmem_putmem_signal(to, from, 4 * MIB, (uint64_t *)elements, 1, SHMEM_SIGNAL_SET, next);
    }
    shmem_barrier_all();
    if (strcmp(what, "first") == 0 && me == 0) {
        for (size_t i = 0; i < chunks; i++) shmem_putmem(to + i * 4 * MIB, from, 4 * MIB, next);
    } else if (strcmp(what, "busy") == 0) {
        for (int turn = 0; turn < TURNS; turn++) shmem_putmem(to, from, 4 * MIB, next);
    } else if (strcmp(what, "strided") == 0 && me == 0) {
        for (int turn = 0; turn < 100 * TURNS; turn++) shmem_long_iput(elements, (long *)from, 2, 1, ELEMENTS, next);
    } else if (strcmp(what, "well") == 0 && me == 0) {
        for (int turn = 0; turn < TURNS; turn++) shmem_putmem(to, from, 4 * MIB, next);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* 256 MiB of zeroed static memory, of which some pages are used: symmetric, and not made resident. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 256 << 20 };

static char large[LARGE];

int main(void) {
    large[LARGE / 2] = 9;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    char seven = (char)(7 + me);
    shmem_putmem(&large[LARGE - 1], &seven, 1, next);
    shmem_putmem(&large[12345678], &seven, 1, next);
    shmem_barrier_all();
    if (large[LARGE - 1] != 7 + (me + npes - 1) % npes || large[12345678] != large[LARGE - 1]
        || large[LARGE / 2] != 9) return 1;
    long pages = 0, skip, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld %ld", &skip, &pages, &shared) != 3) return 2;
    fclose(file);
    if (pages * sysconf(_SC_PAGESIZE) > 100l << 20) {
        fprintf(stderr, "PE %d: %ld pages are resident\n", me, pages);
        return 3;
    }
    shmem_finalize();
    return 0;
}

/* Starts with whatever heap the environment asks for and says how many bytes are resident. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long fixed;

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *block = shmem_malloc(64);
    if (block != NULL) {
        shmem_long_p(block, me, (me + 1) % npes);
        shmem_barrier_all();
        if (*block != (me + npes - 1) % npes) return 1;
    }
    long pages = 0, skip;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &skip, &pages) != 2) return 2;
    fclose(file);
    /* A provider's own buffers are resident, too. */
    long most = getenv("SHMEM_TRANSPORT") != NULL ? 256l << 20 : 64l << 20;
    if (pages * sysconf(_SC_PAGESIZE) > most) return 3;
    if (count > 1) shmem_long_p(&fixed, 1, (me + 1) % npes);
    shmem_barrier_all();
    printf("%s\n", block != NULL ? "allocated" : "nothing to allocate");
    shmem_finalize();
    (void)arguments;
    return 0;
}

/* A tool that is interrupted while it has a call of the program. */
#include <pshmem.h>
#include <signal.h>
#include <stdio.h>

static long p_seen, mem_seen;

void shmem_long_p(long *dest, long value, int pe) {
    p_seen++;
    pshmem_long_p(dest, value, pe);
}

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe) {
    mem_seen++;
    shmem_fence();
    pshmem_putmem(dest, source, nelems, pe);
}

void shmem_barrier_all(void) {
    raise(SIGUSR1);
    pshmem_barrier_all();
}

void shmem_finalize(void) {
    printf("tool: p %ld mem %ld\n", p_seen, mem_seen);
    fflush(stdout);
    pshmem_finalize();
}

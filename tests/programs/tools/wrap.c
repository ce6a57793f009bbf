/* The linker's --wrap: shmem_long_p and shmem_barrier_all. */
#include <shmem.h>
#include <stdio.h>

void __real_shmem_long_p(long *dest, long value, int pe);
void __real_shmem_barrier_all(void);
void __wrap_shmem_long_p(long *dest, long value, int pe);
void __wrap_shmem_barrier_all(void);
static long p_seen, barriers_seen;

void __wrap_shmem_long_p(long *dest, long value, int pe) {
    p_seen++;
    __real_shmem_long_p(dest, value, pe);
}

void __wrap_shmem_barrier_all(void) {
    __real_shmem_barrier_all();
    if (++barriers_seen == 3) printf("wrap: p %ld barrier %ld\n", p_seen, barriers_seen);
}

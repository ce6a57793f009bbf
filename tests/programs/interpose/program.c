/* An application under a PSHMEM tool. Its calls, a PE: 10 puts, 20 p, 5 atomics, 3 barriers, 2 mallocs. */
#include <shmem.h>
#include <stdio.h>

static long words[8];

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long *heap = shmem_malloc(64), *other = shmem_malloc(64), source[8] = {0};
    for (int k = 0; k < 10; k++) shmem_long_put(heap, source, 8, next);
    for (int k = 0; k < 20; k++) shmem_long_p(&words[k % 8], k, next);
    for (int k = 0; k < 5; k++) shmem_long_atomic_add(&words[0], 1, 0);
    for (int k = 0; k < 3; k++) shmem_barrier_all();
    shmem_free(other);
    shmem_free(heap);
    shmem_finalize();
    return 0;
}

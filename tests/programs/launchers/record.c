/* Leaves a profile that is known: PE p puts 32 bytes to its neighbour, p + 1 times. */
#include <shmem.h>

static long there[4], here[4];

int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int k = 0; k <= me; k++) shmem_long_put(there, here, 4, (me + 1) % shmem_n_pes());
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

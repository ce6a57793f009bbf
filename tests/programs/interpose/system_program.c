/* An application under a measurement system. Its calls, a PE: 10 puts (7 and 3), 20 p, 4 add through a pointer, 6
 * barriers. */
#include <shmem.h>

static long words[8];

static __attribute__((noinline)) void exchange(long *heap, const long *source, int next) {
    for (int k = 0; k < 7; k++) shmem_long_put(heap, source, 8, next); /* LINE seven */
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long *heap = shmem_malloc(64), source[8] = {0};
    void (*volatile add)(long *, long, int) = shmem_long_atomic_add;
    exchange(heap, source, next);
    for (int k = 0; k < 3; k++) shmem_long_put(heap, source, 8, next); /* LINE three */
    for (int k = 0; k < 20; k++) shmem_long_p(&words[k % 8], k, next); /* LINE twenty */
    for (int k = 0; k < 4; k++) add(&words[0], 1, 0);                  /* LINE four */
    for (int k = 0; k < 6; k++) shmem_barrier_all();                   /* LINE six */
    shmem_free(heap);
    shmem_finalize();
    return 0;
}

/* An application under tools. Its calls, a PE: 10 long_put, 20 long_p, 5 atomics, 3 barriers, 4 putmem, 2 long double p
 * and g, 2 reductions, 1 ibput with a context (8 arguments), 2 mallocs and frees, my_pe and n_pes once. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long words[8], strided[64], target[2], ones[2] = {1, 1};
static long double wide;

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "app: line %d: %s\n", __LINE__, #condition); \
        shmem_global_exit(9); \
    } \
} while (0)

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long *heap = shmem_malloc(64), *other = shmem_malloc(64), source[8] = {0};
    for (int k = 0; k < 10; k++) shmem_long_put(heap, source, 8, next);
    for (int k = 0; k < 20; k++) shmem_long_p(&words[k % 8], k, next);
    for (int k = 0; k < 5; k++) shmem_long_atomic_add(&target[1], 1, 0);
    for (int k = 0; k < 4; k++) shmem_putmem(heap, source, 16, next);
    for (int k = 0; k < 2; k++) {
        shmem_longdouble_p(&wide, 2.5L, next);
        /* Nothing is between the two: over a network the one may overtake the other. */
        CHECK(shmem_longdouble_g(&wide, next) == 2.5L || getenv("TEST_HOST_PES") != NULL);
    }
    for (long k = 0; k < 8; k++) source[k] = k + 1;
    shmem_ctx_long_ibput(SHMEM_CTX_DEFAULT, strided, source, 4, 2, 2, 4, next);
    for (int k = 0; k < 3; k++) shmem_barrier_all();
    for (int k = 0; k < 8; k++) CHECK(strided[k / 2 * 4 + k % 2] == k + 1);
    for (int k = 0; k < 2; k++) {
        CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, target, ones, 1) == 0);
        CHECK(target[0] == npes);
    }
    shmem_free(other);
    shmem_free(heap);
    printf("app done on %d\n", me);
    fflush(stdout);
    shmem_finalize();
    return 0;
}

/* Traffic known by construction: PE k does each thing (k + 1) times a number. Each routine that is called at all is
 * listed in tests/suites/profile.rs with its count. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long fixed[1024];
static long counter;
static uint64_t signal_word;
static double wide[64];

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long local[1024], value = 0;
    long *heap = shmem_malloc(1024 * sizeof(long));
    shmem_barrier_all();
    for (int k = 0; k < 100 * (me + 1); k++) {
        shmem_long_p(&fixed[k % 1024], k, next);
        value += shmem_long_g(&fixed[k % 1024], next);
        shmem_long_atomic_inc(&counter, 0);
        value += shmem_long_atomic_fetch_add(&counter, 1, me);
    }
    for (int k = 0; k < 10 * (me + 1); k++) {
        shmem_long_put(heap, local, (size_t)k, next);
        shmem_long_get(local, heap, 7, me);
        shmem_putmem(heap, local, 4096, next);
        shmem_getmem_nbi(local, heap, 100, next);
        shmem_double_iput(wide, (double *)(void *)local, 2, 1, 5, next);
        shmem_quiet();
        shmem_fence();
        shmem_ctx_int_p(SHMEM_CTX_DEFAULT, (int *)(void *)fixed, k, next);
    }
    shmem_barrier_all();
    for (int k = 0; k < 3 * (me + 1); k++)
        shmem_long_put_signal(heap, local, 16, &signal_word, 1, SHMEM_SIGNAL_ADD, next);
    /* The neighbour on the left sends three times its number. */
    shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, 3u * (unsigned)((me + npes - 1) % npes + 1));
    for (int k = 0; k < 5; k++) {
        shmem_sync_all();
        if (shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &fixed[8 * k], &fixed[8 * k + 4], 4) != 0) return 1;
        if (shmem_long_broadcast(SHMEM_TEAM_WORLD, &fixed[100 + k], &fixed[200], 1, 0) != 0) return 1;
    }
    /* What the library does inside must not be counted: allocation has barriers, collectives put and wait. */
    void *block = shmem_malloc(100);
    block = shmem_realloc(block, 10000);
    shmem_free(block);
    /* Refused, and so an error. */
    if (shmem_malloc((size_t)1 << 45) != NULL) return 2;
    shmem_barrier_all();
    shmem_finalize();
    return value == 42424242;
}

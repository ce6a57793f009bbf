/* A bucket sort in the style of ISx: places reserved with fetching additions, keys put where they belong, totals by the
 * old reduction; then barriers and syncs back to back. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 4000, RANGE = 1 << 20, ROUNDS = 8, BARRIERS = 300 };

static long reserved, total, mine, work[SHMEM_SYNC_SIZE], extra[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int me, npes;

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "PE %d: line %d: %s\n", me, __LINE__, #condition); \
        shmem_global_exit(9); \
    } \
} while (0)

static int owner(int key) { return (int)((long)key * npes / RANGE); }

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    long room = 2L * KEYS + 64;
    int *received = shmem_malloc((size_t)room * sizeof(int)), *keys = malloc(KEYS * sizeof(int)),
        *sorted = malloc(KEYS * sizeof(int));
    int *counts = malloc((size_t)npes * sizeof(int)), *starts = malloc((size_t)npes * sizeof(int));
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned state = (unsigned)me * 7919 + round;
        for (int pe = 0; pe < npes; pe++) counts[pe] = 0;
        for (int k = 0; k < KEYS; k++) {
            state = state * 1103515245 + 12345;
            keys[k] = (int)((state >> 8) % RANGE);
            counts[owner(keys[k])]++;
        }
        for (int pe = 0, at = 0; pe < npes; at += counts[pe++]) starts[pe] = at;
        for (int k = 0; k < KEYS; k++) sorted[starts[owner(keys[k])]++] = keys[k];
        reserved = 0;
        shmem_barrier_all();
        for (int k = 0; k < npes; k++) {
            int pe = (me + k) % npes;
            long at = shmem_long_atomic_fetch_add(&reserved, counts[pe], pe);
            CHECK(at + counts[pe] <= room);
            shmem_int_put(received + at, sorted + starts[pe] - counts[pe], (size_t)counts[pe], pe);
        }
        shmem_barrier_all();
        for (long k = 0; k < reserved; k++) CHECK(owner(received[k]) == me);
        mine = reserved;
        shmem_long_sum_to_all(&total, &mine, 1, 0, 0, npes, extra, work);
        CHECK(total == (long)KEYS * npes);
        shmem_barrier_all();
    }
    for (int k = 0; k < BARRIERS; k++) shmem_barrier_all();
    for (int k = 0; k < BARRIERS; k++) shmem_sync_all();
    shmem_free(received);
    shmem_finalize();
    printf("OK\n");
    return 0;
}

/* 9.3: a hundred thousand blocks at once, freed in random order: allocation does not slow down with their number, small
 * blocks cost little more than their size, and all is one piece again at the end.
 * pes: 1 2
 * limit: 200
 * environment: SHMEM_SYMMETRIC_SIZE=32m
 * needs: shmem_malloc shmem_free
 */
#include "check.h"
#include <time.h>

enum { MANY = 100000 };

static void *blocks[MANY];

/* Of the processor, not of the clock: beside others a PE waits for its turn at each of 300,000 barriers. */
static double spent(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(void) {
    begin();
    int many = fewer(MANY);
    uint64_t state = 5;
    double start = spent();
    for (int k = 0; k < many; k++) {
        size_t size = 1 + draw(&state) % 200;
        blocks[k] = shmem_malloc(size);
        CHECKF(blocks[k] != NULL, "block %d of %zu bytes: about 100 bytes each must fit into 32 MiB", k, size);
        memset(blocks[k], k, size);
    }
    double first = spent() - start;
    for (int k = many - 1; k > 0; k--) {
        int other = (int)(draw(&state) % (uint64_t)(k + 1));
        void *swap = blocks[k];
        blocks[k] = blocks[other];
        blocks[other] = swap;
    }
    for (int k = 0; k < many / 2; k++) shmem_free(blocks[k]);
    for (int k = 0; k < many / 2; k++) {
        blocks[k] = shmem_malloc(1 + draw(&state) % 100);
        CHECKF(blocks[k] != NULL, "block %d again", k);
    }
    for (int k = 0; k < many; k++) shmem_free(blocks[k]);
    double all = spent() - start;
    CHECKF(all < 20, "%g s for the first allocations, %g s in all", first, all);
    void *large = shmem_malloc(31u << 20);
    CHECK(large != NULL);
    shmem_free(large);
    return end();
}

/* 9.3: when the heap is full every PE gets NULL, the blocks there are keep their contents, and what is freed can be
 * had again; a request larger than the heap, or larger than an address, fails at once.
 * pes: 1 2 4
 * environment: SHMEM_SYMMETRIC_SIZE=4m
 * needs: shmem_malloc shmem_free shmem_realloc shmem_align
 */
#include "check.h"

enum { BLOCK = 64 << 10, MOST = 96 };

int main(void) {
    begin();
    CHECK(shmem_malloc(1ul << 40) == NULL);
    CHECK(shmem_malloc(SIZE_MAX) == NULL);
    CHECK(shmem_malloc(SIZE_MAX - 4096) == NULL);
    CHECK(shmem_align(4096, SIZE_MAX - 100) == NULL);
    int first = -1;
    for (int round = 0; round < 5; round++) {
        unsigned char *blocks[MOST];
        int n = 0;
        while (n < MOST && (blocks[n] = shmem_malloc(BLOCK)) != NULL) {
            memset(blocks[n], n + 1, BLOCK);
            n++;
        }
        CHECKF(n >= 60, "a heap of 4 MiB holds %d blocks of 64 KiB", n);
        /* No leak: each round holds as many. */
        if (round == 0) first = n;
        CHECK_EQ(n, first);
        CHECK(shmem_realloc(blocks[0], 8 << 20) == NULL);
        for (int k = 0; k < n; k++) {
            for (int b = 0; b < BLOCK; b += 511) CHECK_EQ(blocks[k][b], k + 1);
        }
        /* Every second block back, then two halves together. */
        for (int k = 0; k < n; k += 2) shmem_free(blocks[k]);
        CHECK(shmem_malloc(2 * BLOCK + 1) == NULL || n < 6);
        unsigned char *again = shmem_malloc(BLOCK);
        CHECK(again != NULL);
        shmem_free(again);
        for (int k = 1; k < n; k += 2) shmem_free(blocks[k]);
        /* All is one again. */
        unsigned char *large = shmem_malloc((size_t)BLOCK * 60);
        CHECKF(large != NULL, "round %d", round);
        shmem_free(large);
    }
    return end();
}

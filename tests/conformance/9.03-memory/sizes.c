/* 8, 9.3: SHMEM_SYMMETRIC_SIZE with a fraction and a suffix: the heap holds at least that much, to be had in one piece.
 * pes: 1 2
 * environment: SHMEM_SYMMETRIC_SIZE=2.5M
 * needs: shmem_malloc
 */
#include "check.h"

int main(void) {
    begin();
    char *block = shmem_malloc(2621440 - 65536);
    CHECK(block != NULL);
    memset(block, 1, 2621440 - 65536);
    shmem_barrier_all();
    shmem_free(block);
    CHECK(shmem_malloc(8u << 20) == NULL);
    return end();
}

/* 8, 9.3: SHMEM_SYMMETRIC_SIZE with a fraction and a suffix: the heap has at least the integer ceiling of the product,
 * to be had in one piece.
 * pes: 1 2
 * environment: SHMEM_SYMMETRIC_SIZE=3.1M
 * needs: shmem_malloc
 */
#include "check.h"

int main(void) {
    begin();
    enum { BYTES = 3250586 };
    char *block = shmem_malloc(BYTES);
    CHECK(block != NULL);
    memset(block, 1, BYTES);
    shmem_barrier_all();
    shmem_free(block);
    CHECK(shmem_malloc(8u << 20) == NULL);
    return end();
}

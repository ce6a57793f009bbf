/* 9.6: transfers of all sizes up to 16 MiB, at odd offsets, between heap, static and private memory, to self and to
 * every other PE; source and destination may both be symmetric objects, and may lie on the same PE.
 * pes: 1 2 4
 * oshrun:
 * environment: SHMEM_SYMMETRIC_SIZE=96m
 * needs: shmem_malloc shmem_putmem shmem_getmem
 */
#include "check.h"

enum { BIG = 16 << 20 };

static unsigned char fixed[(4 << 20) + 64];

static void fill(unsigned char *bytes, size_t n, uint64_t seed) {
    for (size_t k = 0; k < n; k++) bytes[k] = (unsigned char)((k * 2654435761u >> 7) + seed);
}

static void check(const unsigned char *bytes, size_t n, uint64_t seed, const char *what) {
    for (size_t k = 0; k < n; k++) {
        unsigned char expected = (unsigned char)((k * 2654435761u >> 7) + seed);
        CHECKF(bytes[k] == expected, "%s of %zu bytes: byte %zu", what, n, k);
    }
}

int main(void) {
    begin();
    unsigned char *heap = symmetric(BIG + 64), *origin = symmetric(BIG + 64), *private = malloc(BIG + 64);
    CHECK(private != NULL);
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    for (size_t n = 1; n <= BIG; n = n * 4 + (n > 64)) {
        size_t shift = n % 7;
        fill(private + 3, n, (uint64_t)me);
        fill(origin + 5, n, (uint64_t)me + 100);
        shmem_barrier_all();
        shmem_putmem(heap + shift, private + 3, n, next);
        shmem_barrier_all();
        check(heap + shift, n, (uint64_t)before, "put from private memory to the heap");
        shmem_barrier_all();
        shmem_putmem(heap + shift, origin + 5, n, next);
        shmem_barrier_all();
        check(heap + shift, n, (uint64_t)before + 100, "put from heap to heap");
        memset(private, 0, n + 16);
        shmem_getmem(private + 1, origin + 5, n, next);
        check(private + 1, n, (uint64_t)next + 100, "get from heap to private memory");
        shmem_barrier_all();
        if (n + 64 <= sizeof fixed) {
            shmem_putmem(fixed + shift, origin + 5, n, next);
            shmem_barrier_all();
            check(fixed + shift, n, (uint64_t)before + 100, "put from heap to static memory");
            shmem_getmem(heap + 2, fixed + shift, n, next);
            check(heap + 2, n, (uint64_t)me + 100, "get from static memory to heap");
            shmem_barrier_all();
        }
        /* To itself. */
        fill(private, n, 7);
        shmem_putmem(heap, private, n, me);
        shmem_quiet();
        check(heap, n, 7, "put to self");
        memset(private, 0, n);
        shmem_getmem(private, heap, n, me);
        check(private, n, 7, "get from self");
        shmem_barrier_all();
    }
    free(private);
    shmem_free(origin);
    shmem_free(heap);
    return end();
}

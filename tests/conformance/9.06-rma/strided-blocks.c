/* 9.6.1.4, 9.6.1.8: ibput and ibget of every type and size. Strides run between the starts of blocks, in elements, and
 * are at least the block size; zero blocks and empty blocks move nothing.
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_long_ibput
 */
#include "check.h"

enum { N = 1200 };

static const struct { ptrdiff_t dst, sst; size_t bsize, nblocks; } shapes[] = {
    {1, 1, 1, 0}, {4, 4, 0, 5}, {1, 1, 1, 1}, {3, 3, 3, 7},  {5, 3, 3, 11},
    {4, 9, 4, 30}, {17, 16, 15, 40}, {64, 64, 64, 16}, {100, 33, 31, 9}, {1, 2, 1, 100},
};

//@each shmem_{ibput} shmem_{ibget} shmem_ctx_{ibput} shmem_ctx_{ibget}
static TYPE static_TYPENAME[N];

static void check_TYPENAME(const char *what, const TYPE *found, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,
                           size_t nblocks,
                           uint64_t seed) {
    for (size_t k = 0; k < N; k++) {
        size_t number = k / (size_t)dst, offset = k % (size_t)dst;
        bool inside = number < nblocks && offset < bsize;
        TYPE expected = inside ? VALUE(TYPE, number * (size_t)sst + offset + seed) : (TYPE)1;
        CHECKF(found[k] == expected, "TYPENAME %s, strides %td %td, %zu blocks of %zu: element %zu", what, dst, sst,
               nblocks,
               bsize, k);
    }
}

static void run_TYPENAME(TYPE *block) {
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    static TYPE local[N];
    for (int c = -1; c < ncontexts; c++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            ptrdiff_t dst = shapes[i].dst, sst = shapes[i].sst;
            size_t bsize = shapes[i].bsize, nblocks = shapes[i].nblocks;
            for (size_t k = 0; k < N; k++) {
                block[k] = (TYPE)1;
                local[k] = VALUE(TYPE, k + 10000 * (size_t)me);
            }
            shmem_barrier_all();
            if (c < 0) {
                shmem_{ibput}(block, local, dst, sst, bsize, nblocks, next);
            } else {
                shmem_ctx_{ibput}(contexts[c], block, local, dst, sst, bsize, nblocks, next);
                shmem_ctx_quiet(contexts[c]);
            }
            shmem_barrier_all();
            check_TYPENAME("ibput", block, dst, sst, bsize, nblocks, 10000 * (uint64_t)before);
            shmem_barrier_all();
            for (size_t k = 0; k < N; k++) {
                block[k] = VALUE(TYPE, k + 10000 * (size_t)me);
                local[k] = (TYPE)1;
            }
            shmem_barrier_all();
            if (c < 0) {
                shmem_{ibget}(local, block, dst, sst, bsize, nblocks, next);
            } else {
                shmem_ctx_{ibget}(contexts[c], local, block, dst, sst, bsize, nblocks, next);
            }
            check_TYPENAME("ibget", local, dst, sst, bsize, nblocks, 10000 * (uint64_t)next);
            shmem_barrier_all();
        }
    }
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(N * sizeof(long double));
//@each shmem_{ibput} shmem_{ibget} shmem_ctx_{ibput} shmem_ctx_{ibget}
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
//@end
    close_contexts();
    shmem_free(block);
    return end();
}

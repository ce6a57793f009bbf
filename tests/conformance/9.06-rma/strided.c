/* 9.6.1.3, 9.6.1.7: iput and iget of every type and size: strides on either side, zero and odd counts; elements
 * between the strides stay as they were; a negative stride goes backwards, a source stride of zero repeats.
 * pes: 1 2 3 4
 * needs: shmem_malloc shmem_long_iput
 */
#include "check.h"

enum { N = 1200 };

static const struct { ptrdiff_t dst, sst; size_t n; } shapes[] = {
    {1, 1, 0}, {1, 1, 1}, {1, 1, 33}, {2, 1, 17}, {1, 3, 64}, {5, 2, 101}, {3, 3, 9}, {7, 11, 100}, {1, 1, 512},
    {16, 1, 64},
};

//@each shmem_{iput} shmem_{iget} shmem_ctx_{iput} shmem_ctx_{iget}
static TYPE static_TYPENAME[N];

static void check_TYPENAME(const char *what, const TYPE *found, ptrdiff_t dst, ptrdiff_t sst, size_t n, uint64_t seed) {
    for (size_t k = 0; k < N; k++) {
        bool inside = k % (size_t)dst == 0 && k / (size_t)dst < n;
        TYPE expected = inside ? VALUE(TYPE, k / (size_t)dst * (size_t)sst + seed) : (TYPE)1;
        CHECKF(found[k] == expected, "TYPENAME %s, strides %td %td, %zu elements: element %zu", what, dst, sst, n, k);
    }
}

/* Strides that are not positive: the address moves as in pointer arithmetic. */
static void backwards_TYPENAME(TYPE *block) {
    enum { COUNT = 9 };
    TYPE local[3 * COUNT];
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    for (int k = 0; k < 3 * COUNT; k++) local[k] = VALUE(TYPE, k + 1000 * me);
    for (int k = 0; k < 3 * COUNT; k++) block[k] = (TYPE)1;
    shmem_barrier_all();
    shmem_{iput}(block + 2 * (COUNT - 1), local, -2, 3, COUNT, next);
    shmem_barrier_all();
    for (int k = 0; k < COUNT; k++)
        CHECKF(block[2 * (COUNT - 1 - k)] == VALUE(TYPE, 3 * k + 1000 * before) && block[2 * k + 1] == (TYPE)1,
               "TYPENAME iput, stride -2: element %d", k);
    shmem_barrier_all();
    shmem_{iput}(block, local + 5, 1, 0, COUNT, next);
    shmem_barrier_all();
    for (int k = 0; k < COUNT; k++) CHECKF(block[k] == VALUE(TYPE, 5 + 1000 * before),
                                           "TYPENAME iput, source stride 0: element %d", k);
    for (int k = 0; k < 3 * COUNT; k++) block[k] = VALUE(TYPE, k + 2000 * me);
    shmem_barrier_all();
    shmem_{iget}(local, block + 2 * (COUNT - 1), 1, -2, COUNT, next);
    for (int k = 0; k < COUNT; k++) CHECKF(local[k] == VALUE(TYPE, 2 * (COUNT - 1 - k) + 2000 * next),
                                           "TYPENAME iget, stride -2: element %d", k);
    shmem_barrier_all();
}

static void run_TYPENAME(TYPE *block) {
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;
    static TYPE local[N];
    for (int c = -1; c < ncontexts; c++) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            ptrdiff_t dst = shapes[i].dst, sst = shapes[i].sst;
            size_t n = shapes[i].n;
            for (size_t k = 0; k < N; k++) {
                block[k] = (TYPE)1;
                local[k] = VALUE(TYPE, k + 10000 * (size_t)me);
            }
            shmem_barrier_all();
            if (c < 0) {
                shmem_{iput}(block, local, dst, sst, n, next);
            } else {
                shmem_ctx_{iput}(contexts[c], block, local, dst, sst, n, next);
                shmem_ctx_quiet(contexts[c]);
            }
            shmem_barrier_all();
            check_TYPENAME("iput", block, dst, sst, n, 10000 * (uint64_t)before);
            shmem_barrier_all();
            for (size_t k = 0; k < N; k++) {
                block[k] = VALUE(TYPE, k + 10000 * (size_t)me);
                local[k] = (TYPE)1;
            }
            shmem_barrier_all();
            if (c < 0) {
                shmem_{iget}(local, block, dst, sst, n, next);
            } else {
                shmem_ctx_{iget}(contexts[c], local, block, dst, sst, n, next);
            }
            check_TYPENAME("iget", local, dst, sst, n, 10000 * (uint64_t)next);
            shmem_barrier_all();
        }
    }
}
//@end

int main(void) {
    begin();
    open_contexts();
    void *block = symmetric(N * sizeof(long double));
//@each shmem_{iput} shmem_{iget} shmem_ctx_{iput} shmem_ctx_{iget}
    run_TYPENAME(static_TYPENAME);
    run_TYPENAME(block);
    backwards_TYPENAME(block);
    backwards_TYPENAME(static_TYPENAME);
//@end
    close_contexts();
    shmem_free(block);
    return end();
}

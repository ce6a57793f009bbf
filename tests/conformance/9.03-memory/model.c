/* 9.3 against a model: random malloc, calloc, align, realloc and free, the same on every PE; blocks do not overlap,
 * lie where they do on the other PEs, and keep their fill.
 * pes: 1 2 4
 * environment: SHMEM_SYMMETRIC_SIZE=32m
 * needs: shmem_malloc shmem_free shmem_realloc shmem_align shmem_calloc
 */
#include "check.h"

enum { SLOTS = 200, STEPS = 6000 };

static struct { unsigned char *at; size_t size; unsigned char fill; } slots[SLOTS];
static uint64_t digest;

static size_t random_size(uint64_t *state) {
    switch (draw(state) % 8) {
    case 0: return 1 + draw(state) % 16;
    case 1: case 2: return 1 + draw(state) % 256;
    case 3: case 4: return 1 + draw(state) % 4096;
    case 5: case 6: return 1 + draw(state) % 65536;
    default: return 1 + draw(state) % (600 << 10);
    }
}

static void verify(int s) {
    for (size_t k = 0; k < slots[s].size; k += slots[s].size / 64 + 1)
        CHECKF(slots[s].at[k] == slots[s].fill, "slot %d of %zu bytes: byte %zu", s, slots[s].size, k);
    CHECK(slots[s].at[slots[s].size - 1] == slots[s].fill);
}

static void fill(int s, unsigned char *at, size_t size, unsigned char value) {
    slots[s].at = at;
    slots[s].size = size;
    slots[s].fill = value;
    memset(at, value, size);
    for (int o = 0; o < SLOTS; o++) {
        if (o == s || slots[o].at == NULL) continue;
        CHECKF(slots[o].at + slots[o].size <= at || at + size <= slots[o].at, "slots %d and %d overlap", o, s);
    }
}

int main(void) {
    begin();
    uint64_t state = 12345;
    char *base = symmetric(16);
    uint64_t sum = 0;
    int failures = 0;
    for (int step = 0; step < STEPS; step++) {
        int s = (int)(draw(&state) % SLOTS);
        size_t size = random_size(&state);
        unsigned char value = (unsigned char)(step * 7 + 1), *at;
        int kind = (int)(draw(&state) % 4);
        if (slots[s].at == NULL) {
            size_t alignment = (size_t)8 << draw(&state) % 10;
            at = kind == 0 ? shmem_align(alignment, size) : kind == 1 ? shmem_calloc(size, 1) : shmem_malloc(size);
            if (at == NULL) { failures++; continue; }
            if (kind == 0) CHECK((uintptr_t)at % alignment == 0);
            if (kind == 1) for (size_t k = 0; k < size; k++) CHECK_EQ(at[k], 0);
            fill(s, at, size, value);
        } else if (kind == 0) {
            verify(s);
            size_t kept = size < slots[s].size ? size : slots[s].size;
            unsigned char old = slots[s].fill;
            at = shmem_realloc(slots[s].at, size);
            if (at == NULL) { failures++; verify(s); continue; }
            for (size_t k = 0; k < kept; k++) CHECK_EQ(at[k], old);
            slots[s].at = NULL;
            fill(s, at, size, value);
        } else {
            verify(s);
            shmem_free(slots[s].at);
            slots[s].at = NULL;
        }
        sum = mix(sum ^ (uint64_t)(slots[s].at == NULL ? 0 : (char *)slots[s].at - base));
        if (step % 500 == 499) {
            digest = sum;
            shmem_barrier_all();
            for (int pe = 0; pe < npes; pe++) CHECKF(shmem_uint64_g(&digest, pe) == sum,
                                                     "PE %d: not symmetric at step %d", pe, step);
            shmem_barrier_all();
        }
    }
    for (int s = 0; s < SLOTS; s++) {
        if (slots[s].at == NULL) continue;
        verify(s);
        shmem_free(slots[s].at);
    }
    CHECKF(failures < STEPS / 4, "%d requests failed", failures);
    /* Nothing is lost: nearly all of the heap can be had in one piece. */
    void *large = shmem_malloc(30u << 20);
    CHECKF(large != NULL, "fragments are left after all is %s", "free");
    shmem_free(large);
    return end();
}

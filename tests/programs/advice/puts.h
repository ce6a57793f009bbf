/* Rules about puts. */
#include "advice.h"

enum { WORDS = 1024, PAGE = 4096 };

/* Values one by one, or a buffer of them. */
static void small_puts(int advised) {
    long *to = symmetric(WORDS * sizeof *to), buffer[WORDS];
    for (long turn = 0; turn < turns(2000); turn++) {
        for (long i = 0; i < WORDS; i++) {
            if (advised) {
                buffer[i] = turn + i;
            } else {
                shmem_long_p(&to[i], turn + i, next_pe);
            }
        }
        if (advised) shmem_long_put(to, buffer, WORDS, next_pe);
    }
}

/* A quiet for each put, or for each thousand. */
static void quiet_often(int advised) {
    long *to = symmetric(WORDS * sizeof *to);
    for (long turn = 0; turn < turns(1000000); turn++) {
        shmem_long_p(&to[turn % WORDS], turn, (int)(turn % npes));
        if (!advised || turn % WORDS == 0) shmem_quiet();
    }
}

/* Data, a fence and a flag, or a put with a signal. */
static void put_then_flag(int advised) {
    char *to = symmetric(512), from[512];
    uint64_t *flag = symmetric(sizeof *flag);
    memset(from, 1, sizeof from);
    shmem_barrier_all();
    for (uint64_t turn = 1; turn <= (uint64_t)turns(200000); turn++) {
        if (advised) {
            shmem_putmem_signal(to, from, sizeof from, flag, turn, SHMEM_SIGNAL_SET, next_pe);
            shmem_signal_wait_until(flag, SHMEM_CMP_GE, turn);
        } else {
            shmem_putmem(to, from, sizeof from, next_pe);
            shmem_fence();
            shmem_uint64_p(flag, turn, next_pe);
            shmem_uint64_wait_until(flag, SHMEM_CMP_GE, turn);
        }
    }
}

/* Eight columns beside each other one by one, or as blocks of eight. */
static void strided(int advised) {
    enum { ELEMENTS = 64, STRIDE = 64, COLUMNS = 8 };
    long *to = symmetric(ELEMENTS * STRIDE * sizeof *to), *from = calloc(ELEMENTS * STRIDE, sizeof *from);
    for (long turn = 0; turn < turns(40000); turn++) {
        if (advised) {
            shmem_long_ibput(to, from, STRIDE, STRIDE, COLUMNS, ELEMENTS, next_pe);
            continue;
        }
        for (int i = 0; i < COLUMNS; i++) shmem_long_iput(to + i, from + i, STRIDE, STRIDE, ELEMENTS, next_pe);
    }
    free(from);
}

/* New memory for each turn, or the same again. */
static void first_touch(int advised) {
    enum { PAGES = 256 };
    long count = turns(64) < 16 ? 16 : turns(64);
    char *to = shmem_malloc((size_t)count * PAGES * PAGE), *from = malloc((size_t)PAGES * PAGE);
    if (to == NULL || from == NULL) exit(1);
    memset(from, 1, (size_t)PAGES * PAGE);
    for (long turn = 0; turn < count; turn++) {
        shmem_putmem(to + (size_t)(advised ? 0 : turn) * PAGES * PAGE, from, (size_t)PAGES * PAGE, next_pe);
    }
    free(from);
}

/* Each put complete before the next, or all of a turn together. */
static void network_small(int advised) {
    long *to = symmetric(WORDS * sizeof *to), from[4] = {1, 2, 3, 4};
    for (long turn = 0; turn < turns(8000); turn++) {
        if (advised) {
            shmem_long_put_nbi(&to[turn % WORDS / 4 * 4], from, 4, next_pe);
            if (turn % WORDS == 0) shmem_quiet();
        } else {
            shmem_long_put(&to[turn % WORDS / 4 * 4], from, 4, next_pe);
            shmem_quiet();
        }
    }
}

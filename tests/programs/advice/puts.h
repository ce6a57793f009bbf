/* Rules about puts. */
#include "advice.h"

enum { WORDS = 1024, PAGE = 4096 };

/* Values one by one, or a buffer of them. */
static void small_puts(int advised) {
    long *to = symmetric(WORDS * sizeof *to), buffer[WORDS];
    for (long turn = 0; turn < turns(20000); turn++) {
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
    for (long turn = 0; turn < turns(10000000); turn++) {
        shmem_long_p(&to[turn % WORDS], turn, (int)(turn % npes));
        if (!advised || turn % WORDS == 0) shmem_quiet();
    }
}

/* A context for each message, or one for all. */
static void contexts_and_teams(int advised) {
    long *to = symmetric(sizeof *to);
    shmem_ctx_t context;
    if (advised && shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0) exit(1);
    for (long turn = 0; turn < turns(400000); turn++) {
        if (!advised && shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) != 0) exit(1);
        shmem_ctx_long_p(context, to, turn, next_pe);
        shmem_ctx_quiet(context);
        if (!advised) shmem_ctx_destroy(context);
    }
    if (advised) shmem_ctx_destroy(context);
}

/* Messages to the next PE, each as data, a fence and a flag, or as a put with a signal; then those that come here. */
static void put_then_flag(int advised) {
    enum { MESSAGES = 16, BYTES = 512 };
    char *to = symmetric(MESSAGES * BYTES), from[BYTES];
    uint64_t *flag = symmetric(MESSAGES * sizeof *flag);
    memset(from, 1, sizeof from);
    shmem_barrier_all();
    for (uint64_t turn = 1; turn <= (uint64_t)turns(100000); turn++) {
        for (int i = 0; i < MESSAGES; i++) {
            if (advised) {
                shmem_putmem_signal(to + i * BYTES, from, BYTES, &flag[i], turn, SHMEM_SIGNAL_SET, next_pe);
            } else {
                shmem_putmem(to + i * BYTES, from, BYTES, next_pe);
                shmem_fence();
                shmem_uint64_p(&flag[i], turn, next_pe);
            }
        }
        for (int i = 0; i < MESSAGES; i++) {
            if (advised) {
                shmem_signal_wait_until(&flag[i], SHMEM_CMP_GE, turn);
            } else {
                shmem_uint64_wait_until(&flag[i], SHMEM_CMP_GE, turn);
            }
        }
    }
}

/* Eight columns beside each other one by one, or as blocks of eight. */
static void strided(int advised) {
    enum { ELEMENTS = 64, STRIDE = 64, COLUMNS = 8 };
    long *to = symmetric(ELEMENTS * STRIDE * sizeof *to), *from = calloc(ELEMENTS * STRIDE, sizeof *from);
    for (long turn = 0; turn < turns(200000); turn++) {
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

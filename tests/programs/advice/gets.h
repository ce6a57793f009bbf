/* Rules about gets, atomics and locks. */
#include "advice.h"

enum { BLOCK = 1024 };

static void small_gets(int advised) {
    long *at = symmetric(BLOCK * sizeof *at), buffer[BLOCK], sum = 0;
    for (long turn = 0; turn < turns(20000); turn++) {
        if (advised) shmem_long_get(buffer, at, BLOCK, next_pe);
        for (int i = 0; i < BLOCK; i++) sum += advised ? buffer[i] : shmem_long_g(&at[i], next_pe);
    }
    at[0] = sum;
}

/* A table of the PE itself, read through the library, or as memory. */
static void own_memory(int advised) {
    long *at = symmetric(BLOCK * sizeof *at), sum = 0;
    for (long turn = 0; turn < turns(20000); turn++) {
        volatile long *own = at;
        for (int i = 0; i < BLOCK; i++) sum += advised ? own[i] : shmem_long_g(&at[i], me);
    }
    at[0] = sum;
}

/* The consumer fetches what the producer has made, or finds it in its memory. */
static void get_and_wait(int advised) {
    enum { BYTES = 512 };
    char *made = symmetric(BYTES), *got = symmetric(BYTES);
    uint64_t *flag = symmetric(sizeof *flag), *taken = symmetric(sizeof *taken);
    int before = (me + npes - 1) % npes;
    for (uint64_t turn = 1; turn <= (uint64_t)turns(100000); turn++) {
        made[turn % BYTES] = (char)turn;
        if (advised) {
            shmem_putmem_signal(got, made, BYTES, flag, turn, SHMEM_SIGNAL_SET, next_pe);
            shmem_signal_wait_until(flag, SHMEM_CMP_GE, turn);
        } else {
            shmem_uint64_p(flag, turn, next_pe);
            shmem_uint64_wait_until(flag, SHMEM_CMP_GE, turn);
            shmem_getmem(got, made, BYTES, before);
        }
        shmem_uint64_p(taken, turn, before);
        shmem_uint64_wait_until(taken, SHMEM_CMP_GE, turn);
    }
}

/* PE 0 counts what it has done; the others ask it again and again how far it is, or wait to be told. */
static void polling(int advised) {
    enum { STEPS = 500000 };
    long *count = symmetric(sizeof *count), *flag = symmetric(sizeof *flag);
    shmem_barrier_all();
    for (long turn = 1; turn <= turns(8); turn++) {
        if (me == 0) {
            for (long step = 0; step < STEPS; step++) shmem_long_atomic_inc(count, 0);
            for (int pe = 1; advised && pe < npes; pe++) shmem_long_p(flag, turn, pe);
        } else if (advised) {
            shmem_long_wait_until(flag, SHMEM_CMP_GE, turn);
        } else {
            while (shmem_long_atomic_fetch(count, 0) < turn * STEPS) {
            }
        }
    }
}

/* Each adds to words of the next PE: by a value that it has read, until nobody came between, or at once. */
static void compare_and_swap(int advised) {
    long *sums = symmetric(BLOCK * sizeof *sums);
    for (long turn = 0; turn < turns(4000000); turn++) {
        long *sum = &sums[turn % BLOCK];
        if (advised) {
            shmem_long_atomic_add(sum, turn, next_pe);
            continue;
        }
        long before;
        do {
            before = shmem_long_g(sum, next_pe);
        } while (shmem_long_atomic_compare_swap(sum, before, before + turn, next_pe) != before);
    }
}

static void heap(int advised) {
    long *kept = advised ? shmem_malloc(BLOCK * sizeof *kept) : NULL;
    for (long turn = 0; turn < turns(20000); turn++) {
        long *memory = advised ? kept : shmem_malloc(BLOCK * sizeof *memory);
        if (memory == NULL) exit(1);
        shmem_long_p(&memory[turn % BLOCK], turn, next_pe);
        if (!advised) shmem_free(memory);
    }
}

static void queries(int advised) {
    long sum = 0;
    for (long turn = 0; turn < turns(20000000); turn++) sum += turn ^ (advised ? npes : shmem_n_pes());
    *(long *)symmetric(sizeof sum) = sum;
}

/* One counter, or one of each PE and a sum at the end. */
static void contended_atomics(int advised) {
    long *counter = symmetric(2 * sizeof *counter);
    shmem_barrier_all();
    for (long turn = 0; turn < turns(2000000); turn++) shmem_long_atomic_inc(counter, advised ? me : 0);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, counter + 1, counter, 1);
}

/* A counter that is changed under a lock, or by an atomic operation. */
static void locks(int advised) {
    static long lock;
    long *counter = symmetric(sizeof *counter);
    shmem_barrier_all();
    for (long turn = 0; turn < turns(40000); turn++) {
        if (advised) {
            shmem_long_atomic_inc(counter, 0);
            continue;
        }
        shmem_set_lock(&lock);
        shmem_long_p(counter, shmem_long_g(counter, 0) + 1, 0);
        shmem_quiet();
        shmem_clear_lock(&lock);
    }
}

/* All read a table of PE 0, or a copy of their own. */
static void hot_pe(int advised) {
    enum { TABLE = 1 << 20 };
    char *table = symmetric(TABLE), buffer[4096];
    if (advised) shmem_broadcastmem(SHMEM_TEAM_WORLD, table, table, TABLE, 0);
    for (long turn = 0; turn < turns(200000); turn++) {
        char *at = table + (size_t)(turn * 4096 % TABLE);
        if (advised) {
            memcpy(buffer, at, 64);
        } else {
            shmem_getmem(buffer, at, sizeof buffer, 0);
        }
    }
    table[0] = buffer[0];
}

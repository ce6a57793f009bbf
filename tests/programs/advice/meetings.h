/* Rules about barriers and waits. */
#include "advice.h"

/* A value for the next PE each turn, between barriers, or with a signal. */
static void barriers_per_byte(int advised) {
    uint64_t *to = symmetric(sizeof *to), *flag = symmetric(sizeof *flag);
    shmem_barrier_all();
    for (uint64_t turn = 1; turn <= (uint64_t)turns(100000); turn++) {
        if (advised) {
            shmem_uint64_put_signal(to, &turn, 1, flag, turn, SHMEM_SIGNAL_SET, next_pe);
            shmem_signal_wait_until(flag, SHMEM_CMP_GE, turn);
        } else {
            shmem_uint64_p(to, turn, next_pe);
            shmem_barrier_all();
            shmem_barrier_all();
        }
    }
}

/* PE 1 has more to do in each turn, or all have the same. */
static void barrier_late(int advised) {
    for (long turn = 0; turn < turns(40); turn++) {
        work(advised ? 8.0 / npes : me == 1 ? 6 + 2.0 / npes : 2.0 / npes);
        shmem_barrier_all();
    }
}

/* Every other PE has more to do in each turn, or all have the same: for a device, which takes no core. */
static void uneven_work(int advised) {
    for (long turn = 0; turn < turns(60); turn++) {
        idle(advised ? 4 : me % 2 ? 6 : 2);
        shmem_barrier_all();
    }
}

/* In each turn another PE has more to do, for a device. They meet after each turn, or after each has had more once. */
static void uneven_steps(int advised) {
    for (long turn = 0; turn < turns(64); turn++) {
        idle(turn % npes == me ? 5 : 3.5);
        if (!advised || turn % npes == npes - 1) shmem_barrier_all();
    }
}

/* What PE 0 does for all once, or each its part. */
static void serial_pe(int advised) {
    double all = 400.0 / (double)(parts > 4 ? 4 : parts);
    work(40.0 / npes);
    shmem_barrier_all();
    work(advised ? all / npes : me == 0 ? all : 0);
    shmem_barrier_all();
}

/* Large sums, by an algorithm that the environment forces, or by what the library chooses: see main. */
static void algorithm(int advised) {
    enum { COUNT = 1 << 17 };
    long *from = symmetric(COUNT * sizeof *from), *to = symmetric(COUNT * sizeof *to);
    (void)advised;
    for (long turn = 0; turn < turns(200); turn++) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, COUNT);
}

/* Pairs of PEs that meet all others each turn, or each other. */
static void larger_team(int advised) {
    long *to = symmetric(sizeof *to);
    int partner = me ^ 1;
    shmem_team_t pair = SHMEM_TEAM_INVALID;
    for (int first = 0; first + 1 < npes; first += 2) {
        shmem_team_t team = SHMEM_TEAM_INVALID;
        shmem_team_split_strided(SHMEM_TEAM_WORLD, first, 1, 2, NULL, 0, &team);
        if (team != SHMEM_TEAM_INVALID) pair = team;
    }
    for (long turn = 0; turn < turns(1000); turn++) {
        /* In each turn another pair has to wait for a device, which takes no core. */
        if (me / 2 == turn % (npes / 2)) idle(0.5);
        shmem_long_p(to, turn, partner);
        if (advised) {
            shmem_quiet();
            shmem_team_sync(pair);
        } else {
            shmem_barrier_all();
        }
    }
}

/* PE 0 sends what the others wait for after work of its own, or before. They
 * bring it to a device, which takes no core. */
static void waits_for(int advised) {
    long *to = symmetric(sizeof *to), *done = symmetric(sizeof *done);
    shmem_barrier_all();
    for (long turn = 1; turn <= turns(40); turn++) {
        if (me == 0) {
            if (!advised) work(8);
            for (int pe = 1; pe < npes; pe++) shmem_long_p(to, turn, pe);
            if (advised) work(8);
            shmem_long_wait_until(done, SHMEM_CMP_GE, turn * (npes - 1));
        } else {
            shmem_long_wait_until(to, SHMEM_CMP_GE, turn);
            idle(4);
            shmem_long_atomic_inc(done, 0);
        }
    }
}

/* Every other PE fills a buffer for the next one, which reads it; there is one, or there are two. Both take a device,
 * which takes no core. */
static void serialized(int advised) {
    enum { WORDS = 1024 };
    long buffers = advised ? 2 : 1, *data = symmetric(2 * WORDS * sizeof *data);
    uint64_t *filled = symmetric(sizeof *filled), *read = symmetric(sizeof *read);
    static long made[WORDS];
    int partner = me ^ 1;
    if (partner >= npes) return;
    shmem_barrier_all();
    for (long turn = 1; turn <= turns(40); turn++) {
        if (me < partner) {
            if (turn > buffers) shmem_uint64_wait_until(read, SHMEM_CMP_GE, (uint64_t)(turn - buffers));
            idle(4);
            shmem_long_put_signal(data + turn % buffers * WORDS, made, WORDS, filled, (uint64_t)turn, SHMEM_SIGNAL_SET,
                                  partner);
        } else {
            shmem_signal_wait_until(filled, SHMEM_CMP_GE, (uint64_t)turn);
            idle(4);
            shmem_uint64_p(read, (uint64_t)turn, partner);
        }
    }
}

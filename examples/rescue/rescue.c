/* Heat in a rod, which goes on when PEs are killed.
 *
 *     oshrun -n 8 --survive ./rescue -k 3
 *
 * The rod is cut into as many parts as there are PEs, and each PE begins with one of them. In each step a PE puts the
 * ends of its parts to those who have the parts next to them, with a flag; then it waits for the flags of its own.
 * Every few steps each PE saves its parts, at home and at its buddy: the next PE of the team that is on another host,
 * or where all are on one the next PE.
 *
 * When a PE is lost, what needs it fails. Each PE that is left comes to recover(), and there they make a team of those
 * who are left, find the last state that all have saved, and go on from there: the parts of a PE that is lost go to the
 * next one, which takes them from the buddy's copy. Where the buddy is lost as well, they go to a PE of the host of
 * either, which reads what was saved from the memory that the lost PE has left behind.
 *
 * At the end all agree that all are through, and each compares the whole rod with what it computes alone: the numbers
 * are the same to the last bit, however many PEs were lost. With -k the program kills some PEs itself.
 */
#include <getopt.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static int me, npes;
static int cells = 200, steps = 2000, every = 50, kills = 0, latest = 60;
static unsigned seed = 1;

/* The team of the PEs that are left, and how often it was made anew. */
static shmem_team_t team = SHMEM_TEAM_WORLD;
static long rescues;

/* The first PE of each PE's host, by which hosts are told apart; symmetric. */
static int *host;

/* Who has which part. */
static int *owner;

/* Symmetric, for each part: its cells; the cell on either side of it, in even and odd steps; flags that tell of
 * these. */
static double *rod, *halo;
static long *flag;

/* States, of which the last two are kept: the cells of parts, at home and at the buddy's. */
static double *saved[2];

/* The same on all PEs: where they are, and of which step. */
static int *home[2], *copy[2], saved_step[2];

/* The last state that all have saved, and what the PEs tell each other of that. */
static int state = -1, *states;

static double *part_of(double *all, int part) { return all + (size_t)part * cells; }
static double *halo_of(int part, int side, int step) { return halo + (part * 2 + side) * 2 + step % 2; }

/* Whether a call has failed since this was asked last. */
static int failed(void) {
    int code = shmemx_error_last(NULL);
    shmemx_error_clear();
    if (code != 0 && code != SHMEMX_ERROR_PE_LOST) {
        fprintf(stderr, "rescue: FAILED: PE %d: %s\n", me, shmemx_error_string(code));
        shmem_global_exit(1);
    }
    return code != 0;
}

static void *symmetric(size_t count, size_t size) {
    void *block = shmem_calloc(count, size);
    if (block == NULL) {
        fprintf(stderr, "rescue: FAILED: no memory\n");
        shmem_global_exit(1);
    }
    return block;
}

static double initial(long cell) { return (double)((cell * 7919 + 13) % 1000); }

/* One step of a part between the cells at its sides. */
static void step_part(double *part, int count, double left, double right) {
    for (int i = 0; i < count; i++) {
        double before = part[i], after = i + 1 < count ? part[i + 1] : right;
        part[i] = before + 0.25 * (left - 2.0 * before + after);
        left = before;
    }
}

/* The next PE of the team, in the order of the world, from a PE on. */
static int next_left(int pe) {
    while (shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team) < 0) pe = (pe + 1) % npes;
    return pe;
}

static int in_team(int pe) { return shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team) >= 0; }

/* The next PE of the team from a PE on, on that PE's host or on another one; -1: there is none. */
static int next_on(int pe, int same_host) {
    for (int i = 0; i < npes; i++) {
        int other = (pe + i) % npes;
        if (in_team(other) && (host[other] == host[pe]) == same_host) return other;
    }
    return -1;
}

static int buddy_of(int pe) {
    int elsewhere = next_on(pe, 0);
    return elsewhere >= 0 ? elsewhere : next_left((pe + 1) % npes);
}

/* Who goes on with a part of a state that was saved, which has to reach a copy of it. */
static int heir(int slot, int part) {
    int from = home[slot][part], to = copy[slot][part], near = next_on(from, 1);
    if (in_team(from) || in_team(to)) return next_left(from);
    if (near < 0) near = next_on(to, 1);
    if (near < 0) {
        fprintf(stderr, "rescue: FAILED: PE %d: part %d is lost with PEs %d and %d and their hosts\n", me, part, from,
                to);
        shmem_global_exit(1);
    }
    return near;
}

/* Saves a state: the next number, in the place of the last but one. */
static void save(int step) {
    int slot = (state + 1) % 2, buddy = buddy_of(me);
    for (int part = 0; part < npes; part++) {
        home[slot][part] = owner[part];
        copy[slot][part] = buddy_of(owner[part]);
        if (owner[part] != me) continue;
        memcpy(part_of(saved[slot], part), part_of(rod, part), sizeof(double) * cells);
        shmem_double_put(part_of(saved[slot], part), part_of(rod, part), cells, buddy);
    }
    saved_step[slot] = step;
    shmem_quiet();
    /* Whoever comes out of this knows that all have saved it. */
    if (shmem_team_sync(team) == 0) state++;
}

/* The cells of a part in a state that was saved, from wherever they are. */
static void restore(int part) {
    int slot = state % 2;
    double *from = part_of(saved[slot], part), *to = part_of(rod, part);
    int first = home[slot][part], second = copy[slot][part];
    if (in_team(first)) {
        shmem_double_get(to, from, cells, first);
    } else if (in_team(second)) {
        shmem_double_get(to, from, cells, second);
    } else {
        shmemx_lost_get(to, from, sizeof(double) * cells, host[first] == host[me] ? first : second);
    }
}

/* Goes on with the PEs that are left, from the last state that all have saved; gives the step of that. */
static int recover(void) {
    int good;
    /* What this PE has put before must not come behind what others put after. */
    shmem_quiet();
    shmemx_error_clear();
    do {
        shmem_team_t left;
        if (shmemx_team_shrink(team, &left) != 0) {
            fprintf(stderr, "rescue: FAILED: PE %d: no team\n", me);
            shmem_global_exit(1);
        }
        if (team != SHMEM_TEAM_WORLD) shmem_team_destroy(team);
        team = left;
        rescues++;
        /* One that knows that all have saved a state is enough. */
        states[0] = state;
        if (shmem_int_max_reduce(team, states + 1, states, 1) == 0) {
            state = states[1];
            for (int part = 0; part < npes; part++) {
                owner[part] = heir(state % 2, part);
                if (owner[part] == me) restore(part);
            }
        }
        /* A call may fail at some and go well at others: all go on, or none does. */
        good = !failed();
        if (shmemx_agree(team, &good) != 0) good = 0;
    } while (!good);
    return saved_step[state % 2];
}

/* One step of all parts of this PE. */
static void advance(int step) {
    /* Later than all that was told of before the team was made anew. */
    long now = rescues << 32 | (step + 1);
    for (int part = 0; part < npes; part++) {
        if (owner[part] != me) continue;
        double *own = part_of(rod, part);
        if (part > 0) {
            shmem_double_p(halo_of(part - 1, 1, step), own[0], owner[part - 1]);
            shmem_fence();
            shmem_long_p(flag + (part - 1) * 2 + 1, now, owner[part - 1]);
        }
        if (part + 1 < npes) {
            shmem_double_p(halo_of(part + 1, 0, step), own[cells - 1], owner[part + 1]);
            shmem_fence();
            shmem_long_p(flag + (part + 1) * 2, now, owner[part + 1]);
        }
    }
    for (int part = 0; part < npes; part++) {
        if (owner[part] != me) continue;
        for (int side = 0; side < 2; side++) {
            int other = part + (side == 0 ? -1 : 1);
            if (other >= 0 && other < npes) shmem_long_wait_until(flag + part * 2 + side, SHMEM_CMP_GE, now);
        }
        if (shmemx_error_last(NULL) != 0) return;
        double left = part > 0 ? *halo_of(part, 0, step) : 0.0;
        double right = part + 1 < npes ? *halo_of(part, 1, step) : 0.0;
        step_part(part_of(rod, part), cells, left, right);
    }
}

/* Whether the whole rod is as one PE alone computes it. */
static int is_right(void) {
    long all = (long)cells * npes;
    double *alone = malloc(sizeof(double) * all), *found = malloc(sizeof(double) * cells);
    for (long i = 0; i < all; i++) alone[i] = initial(i);
    for (int step = 0; step < steps; step++) step_part(alone, (int)all, 0.0, 0.0);
    int right = 1;
    for (int part = 0; part < npes; part++) {
        shmem_double_get(found, part_of(rod, part), cells, owner[part]);
        /* Of a PE that was lost in the end: those of its host see what it had. */
        if (failed()) {
            if (host[owner[part]] != host[me]) continue;
            if (shmemx_lost_get(found, part_of(rod, part), sizeof(double) * cells, owner[part]) != 0) right = 0;
        }
        right &= memcmp(found, alone + (size_t)part * cells, sizeof(double) * cells) == 0;
    }
    free(alone);
    free(found);
    return right;
}

static void run(void) {
    int step = 0, through;
    do {
        if (step % every == 0) save(step);
        if (!failed()) {
            while (step < steps) {
                advance(step);
                if (failed()) break;
                if (++step % every == 0) save(step);
                if (failed()) break;
            }
        }
        /* Nobody leaves while one has to go back. */
        through = step == steps && shmem_team_sync(team) == 0;
        if (shmemx_agree(team, &through) != 0) through = 0;
        shmemx_error_clear();
        if (!through) step = recover();
    } while (!through);
}

static void die(int number) {
    (void)number;
    kill(getpid(), SIGKILL);
}

static unsigned draw(unsigned *from) { return (*from = *from * 1664525u + 1013904223u) >> 8; }

/* Some PEs, not all, are killed at some time from now on. */
static void kill_some(void) {
    unsigned number = seed * 2654435761u + 1;
    for (int left = npes, wanted = kills < npes ? kills : npes - 1, pe = 0; pe < npes; pe++, left--) {
        int chosen = (int)(draw(&number) % (unsigned)left) < wanted;
        long after = 1 + (long)(draw(&number) % (unsigned)(latest * 1000));
        wanted -= chosen;
        if (chosen && pe == me) {
            struct itimerval timer = {{0, 0}, {after / 1000000, after % 1000000}};
            signal(SIGALRM, die);
            setitimer(ITIMER_REAL, &timer, NULL);
        }
    }
}

int main(int argc, char **argv) {
    for (int option; (option = getopt(argc, argv, "c:t:e:k:l:s:")) != -1;) {
        switch (option) {
        case 'c': cells = atoi(optarg); break;
        case 't': steps = atoi(optarg); break;
        case 'e': every = atoi(optarg); break;
        case 'k': kills = atoi(optarg); break;
        case 'l': latest = atoi(optarg); break;
        case 's': seed = (unsigned)strtoul(optarg, NULL, 10); break;
        default: cells = 0;
        }
    }
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (cells < 1 || steps < 0 || every < 1 || kills < 0 || latest < 1) {
        if (me == 0) {
            fprintf(stderr, "usage: rescue [-c cells of a part] [-t steps] [-e steps between states]\n"
                            "              [-k PEs to kill] [-l within so many milliseconds] [-s seed]\n");
        }
        shmem_global_exit(2);
    }
    size_t parts = (size_t)npes;
    rod = symmetric(parts * cells, sizeof *rod);
    halo = symmetric(parts * 4, sizeof *halo);
    flag = symmetric(parts * 2, sizeof *flag);
    states = symmetric(2, sizeof *states);
    host = symmetric(parts, sizeof *host);
    owner = calloc(parts, sizeof *owner);
    states[0] = shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD);
    shmem_int_fcollect(SHMEM_TEAM_WORLD, host, states, 1);
    for (int slot = 0; slot < 2; slot++) {
        saved[slot] = symmetric(parts * cells, sizeof *saved[slot]);
        home[slot] = calloc(parts, sizeof *home[slot]);
        copy[slot] = calloc(parts, sizeof *copy[slot]);
    }
    for (int part = 0; part < npes; part++) owner[part] = part;
    for (int i = 0; i < cells; i++) part_of(rod, me)[i] = initial((long)me * cells + i);
    save(0);
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    shmem_barrier_all();
    if (kills > 0) kill_some();

    run();
    int right = is_right(), left = shmem_team_n_pes(team);
    if (!right) {
        fprintf(stderr, "rescue: FAILED: PE %d: the rod is wrong\n", me);
        shmem_global_exit(1);
    }
    if (me == next_left(0) || kills > 0) printf("rescue: OK: PE %d, %d of %d PEs were left\n", me, left, npes);
    shmem_finalize();
    return 0;
}

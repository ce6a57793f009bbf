/*
 * gups: random atomic updates of one table that is spread over all PEs.
 *
 * Every PE draws random numbers and applies each to a random word of a random PE. An update needs no cooperation of its
 * target and updates from several PEs may meet on one word, so each is an atomic operation. The rate is given in GUPS,
 * 10^9 updates a second.
 *
 *     oshrun -n 4 ./gups [-t LOG2_WORDS] [-u UPDATES] [-o xor|add]
 *
 * Verification of xor: a second pass with the same numbers undoes the first, and the table must be as it was at the
 * start, to the last word. Of add: each update adds 1, and the words of all PEs must sum to the number of updates.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reductions need symmetric source and destination; static objects are. */
static double seconds_mine, seconds_slowest;
static unsigned long sum_mine, sum_all;
static unsigned long wrong_mine, wrong_all;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* splitmix64: one step of a counter and a mix, so that any seed gives an independent-looking stream. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The high half picks the PE (scaled, so that any number of PEs is hit evenly), the low bits the word. */
static inline int pe_of(uint64_t r, int npes)
{
    return (int)(((r >> 32) * (uint64_t)npes) >> 32);
}

static unsigned long initial_word(int pe, size_t i)
{
    return ((unsigned long)pe << 40) + i;
}

/* One pass: this PE's share of the updates. Returns the seconds of the slowest PE. */
static double update_pass(unsigned long *table, size_t words, long updates, int me, int npes, int use_xor)
{
    uint64_t seed = UINT64_C(0x5eed0000) + (uint64_t)me;

    shmem_barrier_all();
    double start = now();
    if (use_xor) {
        for (long u = 0; u < updates; u++) {
            uint64_t r = next_random(&seed);
            shmem_atomic_xor(&table[r & (words - 1)], (unsigned long)r, pe_of(r, npes));
        }
    } else {
        for (long u = 0; u < updates; u++) {
            uint64_t r = next_random(&seed);
            shmem_atomic_add(&table[r & (words - 1)], 1UL, pe_of(r, npes));
        }
    }
    shmem_barrier_all(); /* completes the updates of all PEs */
    seconds_mine = now() - start;

    shmem_max_reduce(SHMEM_TEAM_WORLD, &seconds_slowest, &seconds_mine, 1);
    return seconds_slowest;
}

static void usage_exit(int me, const char *why, const char *value)
{
    if (me == 0) {
        fprintf(stderr, "gups: %s '%s'\n", why, value);
        fprintf(stderr, "usage: gups [-t LOG2_WORDS (of each PE, 1..30, default 20)] "
                        "[-u UPDATES (of each PE, default 4 x words)]\n"
                        "            [-o xor|add (default xor)]\n");
    }
    shmem_global_exit(2);
}

struct options {
    size_t words;
    long updates;
    int use_xor;
};

static struct options read_options(int argc, char **argv, int me)
{
    struct options chosen = {.updates = -1, .use_xor = 1};
    int log2_words = 20;
    int option;
    opterr = me == 0;
    while ((option = getopt(argc, argv, "t:u:o:")) != -1) {
        char *end = "";
        switch (option) {
        case 't':
            log2_words = (int)strtol(optarg, &end, 10);
            if (*end != '\0' || log2_words < 1 || log2_words > 30)
                usage_exit(me, "-t takes a number from 1 to 30, not", optarg);
            break;
        case 'u':
            chosen.updates = strtol(optarg, &end, 10);
            if (*end != '\0' || chosen.updates < 0)
                usage_exit(me, "-u takes a number of updates, not", optarg);
            break;
        case 'o':
            chosen.use_xor = strcmp(optarg, "xor") == 0;
            if (!chosen.use_xor && strcmp(optarg, "add") != 0)
                usage_exit(me, "-o takes xor or add, not", optarg);
            break;
        default:
            usage_exit(me, "unknown option in", argv[optind - 1]);
        }
    }
    chosen.words = (size_t)1 << log2_words;
    if (chosen.updates < 0)
        chosen.updates = 4 * (long)chosen.words;
    return chosen;
}

static unsigned long *make_table(const struct options *chosen, int me)
{
    unsigned long *table = shmem_malloc(chosen->words * sizeof *table);
    if (table == NULL) {
        if (me == 0)
            fprintf(stderr, "gups: no room for %zu MiB on the symmetric heap of each PE: "
                            "raise SHMEM_SYMMETRIC_SIZE or lower -t\n", chosen->words * sizeof *table >> 20);
        shmem_global_exit(1);
    }
    for (size_t i = 0; i < chosen->words; i++)
        table[i] = chosen->use_xor ? initial_word(me, i) : 0;
    return table;
}

/* Words of this PE that a second pass has not put back to what they were. */
static unsigned long check_xor(unsigned long *table, const struct options *chosen, int me, int npes)
{
    size_t words = chosen->words;
    /* A pass that changed nothing would also end with the table it began with: most words must differ now. */
    size_t changed = 0;
    for (size_t i = 0; i < words; i++)
        changed += table[i] != initial_word(me, i);
    if (chosen->updates >= (long)words && changed < words / 2) {
        fprintf(stderr, "gups: FAILED: PE %d: %ld updates a PE changed only %zu of %zu words\n", me, chosen->updates,
                changed, words);
        shmem_global_exit(1);
    }
    update_pass(table, words, chosen->updates, me, npes, 1);
    unsigned long wrong = 0;
    for (size_t i = 0; i < words; i++)
        wrong += table[i] != initial_word(me, i);
    return wrong;
}

/* On PE 0, how far the sum of all words is from the number of updates. */
static unsigned long check_add(const unsigned long *table, const struct options *chosen, int me, int npes)
{
    sum_mine = 0;
    for (size_t i = 0; i < chosen->words; i++)
        sum_mine += table[i];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum_all, &sum_mine, 1);
    unsigned long expected = (unsigned long)chosen->updates * (unsigned long)npes;
    return me != 0 ? 0 : sum_all > expected ? sum_all - expected : expected - sum_all;
}

static void report(const struct options *chosen, double seconds, int npes)
{
    double updates = (double)chosen->updates;
    printf("gups: %d PEs, %zu words and %ld updates (%s) each, %.3f s\n", npes, chosen->words, chosen->updates,
           chosen->use_xor ? "xor" : "add", seconds);
    printf("gups: %.6f GUPS, %.1f ns an update on each PE\n",
           seconds > 0 ? updates * (double)npes / seconds * 1e-9 : 0.0, updates > 0 ? seconds / updates * 1e9 : 0.0);
    printf("gups: OK, %s\n", chosen->use_xor ? "every word restored by the second pass"
                                             : "the words sum to the number of updates");
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    struct options chosen = read_options(argc, argv, me);
    unsigned long *table = make_table(&chosen, me);

    double seconds = update_pass(table, chosen.words, chosen.updates, me, npes, chosen.use_xor);

    wrong_mine = chosen.use_xor ? check_xor(table, &chosen, me, npes) : check_add(table, &chosen, me, npes);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &wrong_all, &wrong_mine, 1);
    if (wrong_all != 0) {
        if (me == 0)
            fprintf(stderr, "gups: FAILED: %lu %s\n", wrong_all,
                    chosen.use_xor ? "words differ after updating twice" : "updates lost or made up");
        shmem_global_exit(1);
    }
    if (me == 0)
        report(&chosen, seconds, npes);

    shmem_free(table);
    shmem_finalize();
    return 0;
}

/*
 * isort: parallel bucket sort of 32-bit keys, spread over all PEs.
 *
 *  1. histogram   each PE counts its keys in BINS bins by their leading bits; a sum over all PEs tells everyone how
 *                 many keys each bin holds, and consecutive bins are dealt out so that PEs get like numbers of keys
 *  2. counts      all-to-all: each PE tells every other how many keys it has for it, and hears where to put them
 *  3. exchange    each PE puts its buckets straight into place in the receivers' memory
 *  4. local sort  radix sort of what arrived
 *
 * and then a check: each PE's keys are in order and start no lower than those of the PE before end, and the number of
 * keys and a checksum over them are what they were at the start.
 *
 *     oshrun -n 4 ./isort [-k KEYS] [-d uniform|gauss|low|same] [-s SEED]
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keys.h"

#define MAX_PES 1024
#define BIN_BITS 12
#define BINS (1 << BIN_BITS)

/* What other PEs write is symmetric. Of fixed size it may simply be static ... */
static long bins_mine[BINS], bins_all[BINS];
static long counts_in[MAX_PES];   /* [source]: keys that PE source will put here */
static long offset_out[MAX_PES];  /* [target]: where on PE target this PE's bucket starts */
static long received, received_most;
static uint32_t edges[2];         /* smallest and largest key here, after the sort */
static unsigned long tally_mine[4], tally_all[4]; /* keys and checksum, before and after */
static double times_mine[5], times_most[5];

/* ... and what depends on the keys (the receive buffer) comes from the symmetric heap. */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "isort: PE %d: %s\n", shmem_my_pe(), what);
    shmem_global_exit(1);
}

/* Order does not change it, and a lost, doubled or altered key does. */
static unsigned long checksum(const uint32_t *key, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += mix64(key[i]);
    return sum;
}

/* Deals consecutive bins to PEs, so that PE p ends where the keys so far pass (p+1)/npes of all. */
static void deal_bins(int *owner, long total, int npes)
{
    long before = 0;
    for (int b = 0; b < BINS; b++) {
        /* The bin goes where its middle key would go if keys could be dealt exactly. */
        double middle = (double)before + 0.5 * (double)bins_all[b];
        int pe = total > 0 ? (int)(middle / (double)total * npes) : 0;
        owner[b] = pe < npes ? pe : npes - 1;
        before += bins_all[b];
    }
}

/* The keys ordered by the PE they go to, so that each PE's bucket is one run. bucket[pe] is where it starts. */
static void group_by_owner(const uint32_t *key, uint32_t *grouped, size_t n, const int *owner, const long *bucket,
                           int npes)
{
    long next[MAX_PES];
    memcpy(next, bucket, (size_t)npes * sizeof *next);
    for (size_t i = 0; i < n; i++)
        grouped[next[owner[key[i] >> (32 - BIN_BITS)]]++] = key[i];
}

/* All-to-all of the counts with one-sided writes only: a count there, a place back. */
static void exchange_counts(const long *counts_out, int me, int npes)
{
    for (int i = 0; i < npes; i++) {
        int pe = (me + i) % npes; /* everyone starts at a different PE */
        shmem_put(&counts_in[me], &counts_out[pe], 1, pe);
    }
    shmem_barrier_all();

    received = 0;
    for (int source = 0; source < npes; source++) {
        shmem_p(&offset_out[me], received, source);
        received += counts_in[source];
    }
    shmem_max_reduce(SHMEM_TEAM_WORLD, &received_most, &received, 1);
    shmem_barrier_all();
}

/* The largest key of the nearest PE before this one that has any, or 0. */
static uint32_t last_key_before(int me)
{
    for (int pe = me - 1; pe >= 0; pe--) {
        if (shmem_g(&received, pe) > 0)
            return shmem_g(&edges[1], pe);
    }
    return 0;
}

static void check(const uint32_t *sorted, int me)
{
    size_t n = (size_t)received;
    for (size_t i = 1; i < n; i++) {
        if (sorted[i - 1] > sorted[i])
            die("FAILED: keys out of order");
    }
    if (n > 0) {
        edges[0] = sorted[0];
        edges[1] = sorted[n - 1];
    }
    shmem_barrier_all();
    if (n > 0 && last_key_before(me) > edges[0])
        die("FAILED: first key below the last one of the PE before");

    tally_mine[2] = n;
    tally_mine[3] = checksum(sorted, n);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, tally_all, tally_mine, 4);
    if (tally_all[0] != tally_all[2])
        die("FAILED: number of keys changed");
    if (tally_all[1] != tally_all[3])
        die("FAILED: checksum of the keys changed");
}

static void usage_exit(int me, const char *why, const char *value)
{
    if (me == 0) {
        fprintf(stderr, "isort: %s '%s'\n", why, value);
        fprintf(stderr, "usage: isort [-k KEYS (of each PE, default 4194304)] [-d uniform|gauss|low|same] [-s SEED]\n");
    }
    shmem_global_exit(2);
}

struct options {
    long keys;
    const char *distribution;
    uint64_t seed;
};

static struct options read_options(int argc, char **argv, int me)
{
    struct options chosen = {.keys = 1L << 22, .distribution = "uniform", .seed = 1};
    char *end = "";
    int option;
    opterr = me == 0;
    while ((option = getopt(argc, argv, "k:d:s:")) != -1) {
        switch (option) {
        case 'k':
            chosen.keys = strtol(optarg, &end, 10);
            if (*end != '\0' || chosen.keys < 0)
                usage_exit(me, "-k takes a number of keys, not", optarg);
            break;
        case 'd':
            chosen.distribution = optarg;
            break;
        case 's':
            chosen.seed = strtoull(optarg, &end, 10);
            if (*end != '\0')
                usage_exit(me, "-s takes a number, not", optarg);
            break;
        default:
            usage_exit(me, "unknown option in", argv[optind - 1]);
        }
    }
    return chosen;
}

/* Counts the keys by bin and deals the bins to PEs. Returns the keys of all PEs. */
static long histogram(const uint32_t *key, size_t n, int *owner, int npes)
{
    for (size_t i = 0; i < n; i++)
        bins_mine[key[i] >> (32 - BIN_BITS)]++;
    shmem_sum_reduce(SHMEM_TEAM_WORLD, bins_all, bins_mine, BINS);
    long total = 0;
    for (int b = 0; b < BINS; b++)
        total += bins_all[b];
    deal_bins(owner, total, npes);
    return total;
}

/* Memory for the keys that this PE receives. Symmetric memory has one size everywhere: that of the PE with most. */
static uint32_t *receive_buffer(int me)
{
    uint32_t *in = shmem_malloc(((size_t)received_most + 1) * sizeof *in);
    if (in == NULL) {
        if (me == 0)
            fprintf(stderr, "isort: no room for the %ld keys that one PE receives: raise SHMEM_SYMMETRIC_SIZE\n",
                    received_most);
        shmem_global_exit(1);
    }
    return in;
}

/* Each PE's bucket goes to its place in that PE's memory. */
static void exchange_keys(const uint32_t *key, uint32_t *grouped, size_t n, const int *owner, const long *counts_out,
                          uint32_t *in, int me, int npes)
{
    long bucket[MAX_PES];
    long at = 0;
    for (int pe = 0; pe < npes; pe++) {
        bucket[pe] = at;
        at += counts_out[pe];
    }
    group_by_owner(key, grouped, n, owner, bucket, npes);
    for (int i = 1; i <= npes; i++) {
        int pe = (me + i) % npes;
        if (counts_out[pe] > 0)
            shmem_put_nbi(&in[offset_out[pe]], &grouped[bucket[pe]], (size_t)counts_out[pe], pe);
    }
    shmem_barrier_all(); /* completes the puts, nonblocking ones too, of all PEs */
}

/* The time of each phase, from the times between them, and of all. */
static void report(const double *at, const struct options *chosen, long total, int me, int npes)
{
    static const char *phase[] = {"histogram", "counts", "exchange", "local sort", "total"};
    for (int i = 0; i < 4; i++)
        times_mine[i] = at[i + 1] - at[i];
    times_mine[4] = at[4] - at[0];
    shmem_max_reduce(SHMEM_TEAM_WORLD, times_most, times_mine, 5);
    if (me != 0)
        return;
    printf("isort: %ld keys (%s) on each of %d PEs; most on one PE after: %ld\n", chosen->keys, chosen->distribution,
           npes, received_most);
    for (int i = 0; i < 5; i++)
        printf("isort: %-10s %9.3f ms\n", phase[i], times_most[i] * 1e3);
    printf("isort: %.1f Mkeys/s\n", times_most[4] > 0 ? (double)total / times_most[4] * 1e-6 : 0.0);
    printf("isort: OK, %ld keys in order, count and checksum kept\n", total);
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    struct options chosen = read_options(argc, argv, me);
    if (npes > MAX_PES)
        die("more PEs than MAX_PES");

    size_t n = (size_t)chosen.keys;
    uint32_t *key = calloc(n + 1, sizeof *key);
    uint32_t *grouped = calloc(n + 1, sizeof *grouped);
    if (key == NULL || grouped == NULL)
        die("no memory for the keys");
    if (!make_keys(key, n, chosen.distribution, chosen.seed, me))
        usage_exit(me, "-d takes uniform, gauss, low or same, not", chosen.distribution);
    tally_mine[0] = n;
    tally_mine[1] = checksum(key, n);
    shmem_barrier_all();

    double at[5] = {now()};
    static int owner[BINS];
    long total = histogram(key, n, owner, npes);

    at[1] = now();
    static long counts_out[MAX_PES];
    for (int b = 0; b < BINS; b++)
        counts_out[owner[b]] += bins_mine[b];
    exchange_counts(counts_out, me, npes);

    at[2] = now();
    uint32_t *in = receive_buffer(me);
    exchange_keys(key, grouped, n, owner, counts_out, in, me, npes);

    at[3] = now();
    uint32_t *scratch = malloc(((size_t)received + 1) * sizeof *scratch);
    if (scratch == NULL)
        die("no memory to sort in");
    const uint32_t *sorted = radix_sort(in, scratch, (size_t)received);
    at[4] = now();

    check(sorted, me);
    report(at, &chosen, total, me, npes);

    free(scratch);
    shmem_free(in);
    free(grouped);
    free(key);
    shmem_finalize();
    return 0;
}

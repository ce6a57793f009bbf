/*
 * teamsort: bucket sort over the teams of a grid of PEs.
 *
 * The PEs stand in a grid (shmem_team_split_2d). A key travels twice: within its column to the row that it belongs to,
 * then within that row to its PE. So a PE exchanges keys with one row and one column, not with all PEs.
 *
 *     oshrun -n 4 ./teamsort [-k KEYS (of each PE)] [-b even|sample]
 *
 * -b says where the bounds of the PEs' buckets are: the range of keys in even parts, or as a sample of the keys says.
 * README.md has the story of the two.
 *
 * Verification: keys in order on each PE and from PE to PE; their number and a checksum as they were.
 */
#define _POSIX_C_SOURCE 200809L

#include "../common.h"

#define MAX_PES 1024
#define SAMPLE 256 /* keys of each PE that the bounds are made of */

static uint64_t counts_out[MAX_PES], counts_in[MAX_PES];
static uint64_t places_out[MAX_PES], places_in[MAX_PES];
static uint32_t sample_mine[SAMPLE], sample_all[SAMPLE * MAX_PES];
static uint32_t last_key;

static uint32_t bound[MAX_PES]; /* PE p has the keys from bound[p] on, below bound[p + 1] */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Keys as measurements often are: most of them small. */
static uint32_t key_of(int pe, uint64_t at)
{
    double x = (double)(draw(pe, at) >> 11) / 9007199254740992.0;
    return (uint32_t)(x * x * x * x * 4294967295.0);
}

static void even_bounds(int npes)
{
    for (int pe = 0; pe < npes; pe++)
        bound[pe] = (uint32_t)(((uint64_t)pe << 32) / (uint64_t)npes);
}

/* Bounds that give every PE as many keys of a sample. */
static void sampled_bounds(const uint32_t *key, size_t n, int npes)
{
    for (size_t i = 0; i < SAMPLE; i++)
        sample_mine[i] = key[i * n / SAMPLE];
    shmem_fcollect(SHMEM_TEAM_WORLD, sample_all, sample_mine, SAMPLE);
    qsort(sample_all, (size_t)npes * SAMPLE, sizeof *sample_all, by_value);
    bound[0] = 0;
    for (int pe = 1; pe < npes; pe++)
        bound[pe] = sample_all[pe * SAMPLE];
}

static int owner(uint32_t key, int npes)
{
    int low = 0, high = npes;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (key < bound[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

/*
 * Sends each key to the member of a team that a row (divisor: columns) or a column of the grid (modulus) says; returns
 * how many have come. `grouped` is room for as many keys as are sent.
 */
static size_t exchange(shmem_team_t team, uint32_t *in, const uint32_t *key, uint32_t *grouped, size_t n, int divisor,
                       int modulus)
{
    int npes = shmem_n_pes(), members = shmem_team_n_pes(team);
    size_t next[MAX_PES], start = 0;
    memset(counts_out, 0, sizeof counts_out);
    for (size_t i = 0; i < n; i++)
        counts_out[owner(key[i], npes) / divisor % modulus]++;
    for (int m = 0; m < members; m++) {
        next[m] = start;
        start += counts_out[m];
    }
    for (size_t i = 0; i < n; i++)
        grouped[next[owner(key[i], npes) / divisor % modulus]++] = key[i];

    /* How many come from whom, and where they go: the receiver says. */
    shmem_team_sync(team);
    shmem_alltoall(team, counts_in, counts_out, 1);
    size_t received = 0;
    for (int m = 0; m < members; m++) {
        places_out[m] = received;
        received += counts_in[m];
    }
    shmem_team_sync(team);
    shmem_alltoall(team, places_in, places_out, 1);
    for (int m = 0; m < members; m++) {
        int pe = shmem_team_translate_pe(team, m, SHMEM_TEAM_WORLD);
        shmem_put_nbi(in + places_in[m], grouped + next[m] - counts_out[m], counts_out[m], pe);
    }
    shmem_quiet();
    shmem_team_sync(team);
    return received;
}

static uint64_t checksum(const uint32_t *key, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += draw(0, key[i]);
    return sum;
}

static void check(const uint32_t *key, size_t n, uint64_t keys, uint64_t sum)
{
    int me = shmem_my_pe();
    for (size_t i = 1; i < n; i++)
        if (key[i - 1] > key[i])
            end_job(1, "teamsort: FAILED: keys out of order");
    last_key = n > 0 ? key[n - 1] : bound[me];
    shmem_barrier_all();
    if (me > 0 && n > 0 && shmem_g(&last_key, me - 1) > key[0])
        end_job(1, "teamsort: FAILED: first key below the last one of the PE before");
    if (total_of(n) != total_of(keys) || total_of(checksum(key, n)) != total_of(sum))
        end_job(1, "teamsort: FAILED: keys are lost or changed");
}

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), option, sampled = 1;
    size_t keys = 1 << 20;
    while ((option = getopt(argc, argv, "k:b:")) != -1) {
        if (option == 'k')
            keys = (size_t)number('k', optarg, 1L << 32);
        else if (option == 'b' && (strcmp(optarg, "even") == 0 || strcmp(optarg, "sample") == 0))
            sampled = *optarg == 's';
        else
            end_job(2, "usage: teamsort [-k KEYS] [-b even|sample]");
    }
    if (npes > MAX_PES)
        end_job(2, "teamsort: %d PEs at most", MAX_PES);

    int columns = grid_columns(npes);
    shmem_team_t row, column;
    shmem_team_split_2d(SHMEM_TEAM_WORLD, columns, NULL, 0, &row, NULL, 0, &column);
    /* All keys may end up in one row, and on one PE. */
    size_t room = keys * (size_t)npes;
    uint32_t *first = symmetric(room, sizeof *first), *second = symmetric(room, sizeof *second);
    uint32_t *grouped = malloc(room * sizeof *grouped);
    for (size_t i = 0; i < keys; i++)
        second[i] = key_of(me, i);
    uint64_t sum = checksum(second, keys);
    shmem_barrier_all();

    double start = now();
    if (sampled)
        sampled_bounds(second, keys, npes);
    else
        even_bounds(npes);
    size_t in_row = exchange(column, first, second, grouped, keys, columns, npes / columns);
    shmem_barrier_all(); /* everyone has sent its own keys: `second` can be written */
    size_t mine = exchange(row, second, first, grouped, in_row, 1, columns);
    qsort(second, mine, sizeof *second, by_value);
    shmem_barrier_all();
    double seconds = slowest(now() - start);

    check(second, mine, keys, sum);
    double most = slowest((double)mine);
    if (me == 0) {
        printf("teamsort: %zu keys on each of %d PEs (%d x %d); most on one PE after: %.0f\n", keys, npes,
               npes / columns, columns, most);
        printf("teamsort: %.1f ms, %.1f Mkeys/s\n", seconds * 1e3, (double)keys * npes / seconds * 1e-6);
        printf("teamsort: OK, keys in order, count and checksum kept\n");
    }
    free(grouped);
    shmem_free(second);
    shmem_free(first);
    shmem_finalize();
    return 0;
}

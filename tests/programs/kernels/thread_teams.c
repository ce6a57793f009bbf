/* Threads that make and end teams at the same time, each on a parent of its own, and on active sets with their own
 * pSync: what one does must not be seen by the others. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 60, OLD = 40 };

static shmem_team_t parents[THREADS], old[OLD];
static long sources[THREADS][4], sums[THREADS][4];
static long psyncs[THREADS][SHMEM_REDUCE_SYNC_SIZE], psyncs_of_syncs[THREADS][SHMEM_SYNC_SIZE];
static long pwrks[THREADS][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int errors;

static void expect(long got, long wanted, const char *what, int thread, int round) {
    if (got != wanted && __atomic_fetch_add(&errors, 1, __ATOMIC_RELAXED) < 4)
        fprintf(stderr, "PE %d, thread %d, round %d: %s is %ld, not %ld\n", shmem_my_pe(), thread, round, what, got,
                wanted);
}

static void sum(shmem_team_t team, int thread, int round) {
    int n = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    long base = 1000 * (thread + 1) + round;
    sources[thread][0] = base + me;
    expect(shmem_long_sum_reduce(team, &sums[thread][0], &sources[thread][0], 1), 0, "the status of a sum", thread,
           round);
    expect(sums[thread][0], base * n + (long)n * (n - 1) / 2, "a sum", thread, round);
}

static void *split(void *argument) {
    int thread = (int)(long)argument, n = shmem_n_pes();
    for (int round = 0; round < ROUNDS; round++) {
        shmem_team_t all, few, row, column;
        int half = (n + 1) / 2;
        expect(shmem_team_split_strided(parents[thread], 0, 1, n, NULL, 0, &all), 0, "a split", thread, round);
        expect(shmem_team_split_strided(parents[thread], 0, 2, half, NULL, 0, &few), 0, "a split", thread, round);
        expect(shmem_team_split_2d(parents[thread], 2, NULL, 0, &row, NULL, 0, &column), 0, "a split", thread, round);
        shmem_team_t teams[] = {all, few, row, column};
        for (int at = 0; at < 4; at++)
            if (teams[at] != SHMEM_TEAM_INVALID)
                sum(teams[at], thread, round);
        for (int at = 0; at < 4; at++)
            shmem_team_destroy(teams[at]);
    }
    return NULL;
}

static void *destroy(void *argument) {
    (void)argument;
    for (int at = 0; at < OLD; at++)
        shmem_team_destroy(old[at]);
    return NULL;
}

/* All PEs but the last: a set with members on several hosts, where there are several. */
static void *active_set(void *argument) {
    int thread = (int)(long)argument, n = shmem_n_pes(), me = shmem_my_pe();
    int size = thread == 0 || n == 1 ? n : n - 1;
    if (me >= size)
        return NULL;
    for (int round = 0; round < ROUNDS; round++) {
        sources[thread][2] = 100 * (thread + 1) + round + me;
        shmem_long_sum_to_all(&sums[thread][2], &sources[thread][2], 1, 0, 0, size, pwrks[thread], psyncs[thread]);
        expect(sums[thread][2], (long)size * (100 * (thread + 1) + round) + (long)size * (size - 1) / 2,
               "a sum of a set", thread, round);
        shmem_sync(0, 0, size, psyncs_of_syncs[thread]);
    }
    return NULL;
}

static void together(void *(*of_thread)(void *), void *(*beside)(void *)) {
    pthread_t threads[THREADS + 1];
    for (long at = 0; at < THREADS; at++)
        pthread_create(&threads[at], NULL, of_thread, (void *)at);
    if (beside != NULL)
        pthread_create(&threads[THREADS], NULL, beside, NULL);
    for (int at = 0; at < THREADS + (beside != NULL); at++)
        pthread_join(threads[at], NULL);
    shmem_barrier_all();
}

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int n = shmem_n_pes();
    for (int at = 0; at < THREADS; at++) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &parents[at]);
        for (int word = 0; word < SHMEM_REDUCE_SYNC_SIZE; word++)
            psyncs[at][word] = SHMEM_SYNC_VALUE;
        for (int word = 0; word < SHMEM_SYNC_SIZE; word++)
            psyncs_of_syncs[at][word] = SHMEM_SYNC_VALUE;
    }
    for (int at = 0; at < OLD; at++)
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &old[at]);
    shmem_barrier_all();
    together(split, destroy);
    together(active_set, NULL);
    if (errors == 0)
        puts("OK");
    shmem_finalize();
    return errors != 0;
}

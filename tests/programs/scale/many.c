/* Many objects, teams and contexts at a time or one after the other: what the last thousand of them cost beside the
 * first, and what is left in the process at the end. Prints; the test judges what does not depend on the clock.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Private memory of this process in KiB. */
static long resident(void) {
    long anonymous = -1;
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "RssAnon: %ld", &anonymous) == 1) break;
    if (status != NULL) fclose(status);
    return anonymous;
}

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), shmem_global_exit(1))

static void objects(int count, int me) {
    char **live = malloc((size_t)count * sizeof *live);
    double start = now(), first = 0;
    for (int i = 0; i < count; i++) {
        live[i] = shmem_malloc(16 + (size_t)(i * 7 % 900));
        if (live[i] == NULL) FAIL("no object %d\n", i);
        if (i == 1000) first = now() - start;
    }
    double last = now();
    for (int i = 0; i < 1000; i++) {
        char *more = shmem_malloc(100);
        if (more == NULL) FAIL("no further object\n");
        shmem_free(more);
    }
    last = now() - last;
    /* Every other one, so that nothing joins; then the rest. */
    double end = now();
    for (int i = 0; i < count; i += 2) shmem_free(live[i]);
    for (int i = 1; i < count; i += 2) shmem_free(live[i]);
    if (me == 0)
        printf("objects: %d, first 1000 %.2f ms, 1000 and back on top %.2f ms, all freed %.0f ms\n", count,
               1e3 * first, 1e3 * last, 1e3 * (now() - end));
    free(live);
}

static void teams(int count, int me, int n) {
    double start = now(), first = 0;
    for (int i = 0; i < count; i++) {
        shmem_team_t team, row, column;
        shmem_ctx_t ctx;
        if (shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &team) != 0) FAIL("no team %d\n", i);
        if (shmem_team_create_ctx(team, 0, &ctx) != 0) FAIL("no context of team %d\n", i);
        if (i % 10 == 0) {
            if (shmem_team_split_2d(team, 2, NULL, 0, &row, NULL, 0, &column) != 0) FAIL("no rows of team %d\n", i);
            shmem_team_destroy(row);
            shmem_team_destroy(column);
        }
        shmem_team_destroy(team);
        if (i == 1000) first = now() - start;
    }
    double all = now() - start;
    if (me == 0) printf("teams: %d, first 1000 %.2f ms, on average %.2f ms a 1000\n", count, 1e3 * first,
                        1e6 * all / count);
}

static void contexts(int count, int me) {
    shmem_ctx_t *live = malloc((size_t)count * sizeof *live);
    shmem_team_t team;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team) != 0) FAIL("no team\n");
    for (int round = 0; round < 3; round++) {
        double start = now();
        for (int i = 0; i < count; i++)
            if (shmem_team_create_ctx(team, 0, &live[i]) != 0) FAIL("no context %d\n", i);
        double made = now();
        for (int i = 0; i < count; i++) shmem_ctx_destroy(live[i]);
        if (me == 0) printf("contexts: %d, made in %.2f ms, destroyed in %.2f ms\n", count, 1e3 * (made - start),
                            1e3 * (now() - made));
    }
    shmem_team_destroy(team);
    free(live);
}

int main(int count, char **arguments) {
    int scale = count > 1 ? atoi(arguments[1]) : 100000;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    objects(scale, me);
    teams(scale / 10, me, n);
    contexts(scale / 10, me);
    long before = resident();
    for (int round = 0; round < 3; round++) {
        objects(scale / 4, -1);
        teams(scale / 10, -1, n);
        contexts(scale / 10, -1);
    }
    long grown = resident() - before;
    if (me == 0) printf("grown by %ld KiB\n", grown);
    if (grown > 1024) FAIL("PE %d: %ld KiB are left\n", me, grown);
    shmem_finalize();
    return 0;
}

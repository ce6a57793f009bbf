/* A thousand teams at once, in chains of parents, all in use; the heap taken to the last byte and given back. */
#include <shmem.h>
#include <stdio.h>

enum { TEAMS = 1000, BLOCKS = 100000 };

static shmem_team_t teams[TEAMS];
static void *blocks[BLOCKS];
static long one = 1, sum;

int main(void) {
    shmem_init();
    int npes = shmem_n_pes(), wrong = 0;
    shmem_team_t parent = SHMEM_TEAM_WORLD;
    for (int k = 0; k < TEAMS; k++) {
        if (shmem_team_split_strided(parent, 0, 1, npes, NULL, 0, &teams[k]) != 0) return 2;
        if (k % 10 == 9) parent = teams[k];
    }
    for (int k = 0; k < TEAMS; k++) {
        sum = 0;
        wrong |= shmem_long_sum_reduce(teams[k], &sum, &one, 1) != 0 || sum != npes;
        shmem_team_sync(teams[k]);
    }
    for (int k = TEAMS - 1; k >= 0; k--) shmem_team_destroy(teams[k]);
    int most = 0;
    for (int round = 0; round < 3; round++) {
        int count = 0;
        for (size_t bytes = 64 << 10; bytes >= 64; bytes /= 2)
            while (count < BLOCKS && (blocks[count] = shmem_malloc(bytes + 8 * (size_t)(count % 7))) != NULL) count++;
        wrong |= round > 0 && count != most;
        most = count;
        for (int k = 0; k < count; k += 2) shmem_free(blocks[k]);
        for (int k = 1; k < count; k += 2) shmem_free(blocks[k]);
    }
    void *whole = shmem_malloc(15 << 20);
    wrong |= whole == NULL || most < 200;
    shmem_free(whole);
    shmem_finalize();
    if (!wrong) printf("OK\n");
    return wrong;
}

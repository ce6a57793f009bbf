/* 9.4: thousands of teams made and destroyed, with contexts, leak nothing: the heap, the descriptors and the memory of
 * the process stay as they are; many teams at once work.
 * pes: 1 2 4
 * limit: 100
 * needs: shmem_team_split_strided shmem_team_destroy shmem_team_create_ctx shmem_team_sync shmem_malloc
 */
#include "check.h"

static long resident(void) {
    long pages = 0, skip;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &skip, &pages) == 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

int main(void) {
    begin();
    shmem_team_config_t config = {.num_contexts = 1};
    long before = 0;
    /* Between hosts, libfabric touches rings of its own bit by bit for as long as these are new. */
    int rounds = host_size() < npes ? 800 : 5000;
    for (int round = 0; round < rounds; round++) {
        shmem_team_t team;
        int size = 1 + round % npes;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, &config, SHMEM_TEAM_NUM_CONTEXTS, &team), 0);
        if (team != SHMEM_TEAM_INVALID) {
            shmem_ctx_t ctx;
            CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
            if (round % 2) shmem_ctx_destroy(ctx);
            CHECK_EQ(shmem_team_sync(team), 0);
        }
        shmem_team_destroy(team);
        if (round == rounds / 5) before = resident();
    }
    long after = resident();
    CHECKF(after - before < 1 << 20, "%d teams took %ld bytes", rounds * 4 / 5, after - before);
    for (int round = 0; round < 3; round++) {
        shmem_team_t many[30];
        for (int k = 0; k < 30; k++)
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, k % npes, 1, npes - k % npes, NULL, 0, &many[k]), 0);
        for (int k = 29; k >= 0; k--) if (many[k] != SHMEM_TEAM_INVALID) CHECK_EQ(shmem_team_sync(many[k]), 0);
        for (int k = 0; k < 30; k++) shmem_team_destroy(many[k]);
    }
    for (int round = 0; round < 3000; round++) {
        shmem_ctx_t ctx;
        CHECK_EQ(shmem_ctx_create(round % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx), 0);
        shmem_ctx_destroy(ctx);
    }
    return end();
}

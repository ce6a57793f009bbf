/* PE 1 sleeps before calls in which all PEs of a team wait for each other without exchanging anything, and before those
 * that wait for nobody, which some PEs make oftener. */
#include <shmem.h>
#include <shmemx.h>
#include <time.h>

static int me, npes;

static void late(void) {
    struct timespec time = {0, 10000000};
    if (me == 1) nanosleep(&time, NULL);
}

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int turn = 0; turn < 6; turn++) {
        late();
        char *memory = shmem_malloc(64);
        late();
        memory = shmem_realloc(memory, 128);
        late();
        shmem_free(memory);
        shmem_team_t team = SHMEM_TEAM_INVALID;
        late();
        shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &team);
        if (team == SHMEM_TEAM_INVALID) continue;
        shmemx_space_t space = SHMEMX_SPACE_INVALID;
        shmemx_space_config_t config = {.size = 1 << 20};
        late();
        shmemx_space_create(team, &config, SHMEMX_SPACE_SIZE, &space);
        late();
        memory = shmemx_space_malloc(space, 64);
        shmemx_space_destroy(space);
        late();
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
    for (int turn = 0; turn < 10 + me; turn++) {
        late();
        shmem_free(shmem_malloc(0));
    }
    shmem_finalize();
    return 0;
}

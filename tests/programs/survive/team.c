/* Every third PE is killed, one after the other; the others shrink teams, agree, and go on with what they have made. */
#include "survive.h"

static long to[16], from[2];
static int flags[64];

static bool dies(int pe) { return pe % 3 == 1 || npes == 2; }

/* Collectives, contexts, sub-teams and a space on the PEs that are left, which are no strided range. */
static void use(shmem_team_t team) {
    int size = shmem_team_n_pes(team), rank = shmem_team_my_pe(team);
    for (int i = 0; i < 20; i++) {
        from[0] = me;
        WELL(shmem_long_fcollect(team, to, from, 1));
        for (int pe = 0; pe < size; pe++) {
            CHECK_EQ(to[pe], shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD));
            CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, (int)to[pe], team), pe);
        }
        WELL(shmem_team_sync(team));
    }
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    WELL(shmem_ctx_long_p(ctx, from + 1, 100 + me, (rank + 1) % size));
    WELL(shmem_ctx_quiet(ctx));
    WELL(shmem_team_sync(team));
    CHECK_EQ(from[1], 100 + shmem_team_translate_pe(team, (rank + size - 1) % size, SHMEM_TEAM_WORLD));
    shmem_ctx_destroy(ctx);
    shmem_team_t part;
    CHECK_EQ(shmem_team_split_strided(team, 0, size > 1 ? 2 : 1, (size + 1) / 2, NULL, 0, &part), 0);
    if (part != SHMEM_TEAM_INVALID) {
        from[0] = 1;
        WELL(shmem_long_sum_reduce(part, to, from, 1));
        CHECK_EQ(to[0], (size + 1) / 2);
        int first = shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD);
        CHECK_EQ(shmem_team_translate_pe(part, 0, SHMEM_TEAM_WORLD), first);
        WELL(shmem_team_destroy(part));
    }
    shmemx_req_h request;
    CHECK_EQ(shmemx_long_sum_reduce_nb(team, to, from, 1, &request), 0);
    CHECK_EQ(shmemx_req_wait(&request), 0);
    shmemx_space_config_t config = {.size = 1 << 16};
    shmemx_space_t space;
    CHECK_EQ(shmemx_space_create(team, &config, SHMEMX_SPACE_SIZE, &space), 0);
    long *word = shmemx_space_malloc(space, sizeof *word);
    CHECK(word != NULL);
    *word = 0;
    WELL(shmem_team_sync(team));
    int next = shmem_team_translate_pe(team, (rank + 1) % size, SHMEM_TEAM_WORLD);
    WELL(shmem_long_atomic_add(word, me + 1, next));
    WELL(shmem_team_sync(team));
    CHECK_EQ(*word, shmem_team_translate_pe(team, (rank + size - 1) % size, SHMEM_TEAM_WORLD) + 1);
    CHECK_EQ(shmemx_space_destroy(space), 0);
}

int main(void) {
    begin();
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    /* Without a loss both are there as well. */
    int flag = ~(1 << me % 8);
    CHECK_EQ(shmemx_agree(SHMEM_TEAM_WORLD, &flag), 0);
    CHECK_EQ(flag, npes >= 8 ? ~255 : ~((1 << npes) - 1));
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmemx_team_shrink(SHMEM_TEAM_WORLD, &team), 0);
    CHECK_EQ(shmem_team_n_pes(team), npes);
    CHECK_EQ(shmemx_agree(SHMEM_TEAM_INVALID, &flag), -1);
    CHECK_EQ(shmemx_agree(team, NULL), SHMEMX_ERROR_ADDRESS);
    CHECK_EQ(last_error(), SHMEMX_ERROR_ADDRESS);
    WELL(shmem_barrier_all());

    int size = npes;
    for (int victim = 0; victim < npes; victim++) {
        bool alone = npes == 2 ? victim == 1 : dies(victim);
        if (!alone) continue;
        leave_before(victim, size - 1);
        if (me == victim) die("kill");
        /* Those who are told first, and those who are in a collective. */
        if (me % 2 == 0) await_loss(victim);
        while (shmem_team_sync(team) == 0) continue;
        CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
        flag = me == (victim == 0 ? 1 : 0) ? 6 : 7;
        CHECK_EQ(shmemx_agree(team, &flag), 0);
        CHECK_EQ(flag, 6);
        shmem_team_t left;
        CHECK_EQ(shmemx_team_shrink(team, &left), 0);
        CHECK_EQ(shmem_team_n_pes(left), --size);
        WELL(shmem_team_destroy(team));
        team = left;
        use(team);
    }
    CHECK_EQ(shmemx_failed_pes(flags, 64), npes - size);
    shmem_finalize();
    printf("PE %d is through\n", me);
    return 0;
}

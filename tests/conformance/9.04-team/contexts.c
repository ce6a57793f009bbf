/* 9.4.3, 9.4.4, 9.4.8, 9.5.2, 9.5.4: num_contexts is kept and reported, contexts of a team take team-relative PE
 * numbers, get_team names the team, destroying a team destroys its shareable contexts; invalid handles.
 * pes: 1 2 3 4 7
 * needs: shmem_team_split_strided shmem_team_create_ctx shmem_ctx_get_team shmem_team_get_config shmem_ctx_long_p
 */
#include "check.h"

static long word, counter;
static uint64_t signal_word;

int main(void) {
    begin();
    /* Reversed, so that team numbers differ from world numbers. */
    for (int round = 0; round < 50; round++) {
        shmem_team_t team;
        shmem_team_config_t config = {.num_contexts = 3};
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                          &team), 0);
        shmem_team_config_t got = {.num_contexts = -1};
        CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
        CHECK(got.num_contexts >= 3);
        int number = shmem_team_my_pe(team), next = (number + 1) % npes;
        static const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_NOSTORE};
        shmem_ctx_t made[3];
        word = -1;
        counter = 0;
        signal_word = 0;
        shmem_barrier_all();
        for (int c = 0; c < 3; c++) {
            CHECK_EQ(shmem_team_create_ctx(team, options[c], &made[c]), 0);
            shmem_team_t found = SHMEM_TEAM_INVALID;
            CHECK_EQ(shmem_ctx_get_team(made[c], &found), 0);
            CHECK(found == team);
            shmem_ctx_long_p(made[c], &word, number * 10 + c, next);
            shmem_ctx_quiet(made[c]);
            CHECK_EQ(shmem_ctx_long_g(made[c], &word, next), number * 10 + c);
            shmem_ctx_long_atomic_add(made[c], &counter, 1, 0);
#ifdef HAVE_shmem_ctx_signal_add
            shmem_ctx_signal_add(made[c], &signal_word, 1, next);
#endif
#ifdef HAVE_shmem_ctx_pe_quiet
            /* Its PE numbers are those of the context's team. */
            int targets[] = {next, 0};
            shmem_ctx_pe_quiet(made[c], targets, 2);
#endif
            shmem_ctx_quiet(made[c]);
        }
        shmem_barrier_all();
        CHECK_EQ(word, (number + npes - 1) % npes * 10 + 2);
        /* Team PE 0 is the last PE of the world. */
        if (me == npes - 1) CHECK_EQ(counter, 3 * npes);
#ifdef HAVE_shmem_ctx_signal_add
        CHECK_EQ(signal_word, 3);
#endif
        shmem_ctx_destroy(made[0]);
        /* The other two go with their team. */
        shmem_team_destroy(team);
    }
    shmem_team_t found = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &found), 0);
    CHECK(found == SHMEM_TEAM_WORLD);
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    CHECK_EQ(shmem_ctx_get_team(ctx, &found), 0);
    CHECK(found == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(ctx);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &found) != 0);
    CHECK(found == SHMEM_TEAM_INVALID);
    ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    /* A context of SHMEM_TEAM_SHARED: its own atomicity domain, its own numbers. */
    CHECK_EQ(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx), 0);
    CHECK_EQ(shmem_ctx_get_team(ctx, &found), 0);
    CHECK(found == SHMEM_TEAM_SHARED);
    shmem_ctx_long_p(ctx, &word, 5, shmem_team_my_pe(SHMEM_TEAM_SHARED));
    shmem_ctx_quiet(ctx);
    CHECK_EQ(word, 5);
    shmem_ctx_destroy(ctx);
    return end();
}

/* One PE ends by a signal; what the others then can do and cannot. Arguments: the PE, and how it ends. */
#include "survive.h"

enum { WORDS = 1000 };

static long at_rest[WORDS];
static long *heap, *in_space;
static int victim;

static void one_sided(shmem_ctx_t ctx) {
    long here[WORDS] = {0}, fetched = 7;
    LOST(shmem_ctx_long_p(ctx, heap, 1, victim));
    LOST(shmem_ctx_long_p(ctx, at_rest, 1, victim));
    LOST(shmem_ctx_long_p(ctx, in_space, 1, victim));
    LOST(shmem_ctx_long_get(ctx, here, in_space, 2, victim));
    LOST(shmem_ctx_long_atomic_inc(ctx, in_space, victim));
    CHECK_EQ(shmem_ctx_long_g(ctx, heap, victim), 0);
    CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
    LOST(shmem_ctx_long_put(ctx, heap, here, WORDS, victim));
    LOST(shmem_ctx_long_get(ctx, here, heap, WORDS, victim));
    LOST(shmem_ctx_long_put_nbi(ctx, heap, here, WORDS, victim));
    LOST(shmem_ctx_long_get_nbi(ctx, here, heap, WORDS, victim));
    LOST(shmem_ctx_long_iput(ctx, heap, here, 2, 1, 10, victim));
    LOST(shmem_ctx_long_iget(ctx, here, heap, 2, 1, 10, victim));
    LOST(shmem_ctx_long_atomic_add(ctx, heap, 1, victim));
    LOST(shmem_ctx_long_atomic_fetch_add(ctx, heap, 1, victim));
    LOST(shmem_ctx_long_atomic_compare_swap(ctx, heap, 0, 1, victim));
    LOST(shmem_ctx_long_atomic_fetch_inc_nbi(ctx, &fetched, heap, victim));
    CHECK_EQ(fetched, 7);
    LOST(shmem_ctx_long_put_signal(ctx, heap, here, 4, (uint64_t *)heap + 8, 1, SHMEM_SIGNAL_SET, victim));
    LOST(shmemx_signal_set(ctx, (uint64_t *)heap + 8, 1, victim));
    WELL(shmem_ctx_quiet(ctx));
    WELL(shmem_ctx_fence(ctx));
    /* The others are there as before. */
    for (int pe = 0; pe < npes; pe++) {
        if (pe == victim) continue;
        WELL(shmem_ctx_long_p(ctx, heap + 10 + me, me, pe));
        WELL(shmem_ctx_long_atomic_inc(ctx, heap + 9, pe));
    }
}

static void left_behind(void) {
    long here[WORDS];
    bool is_near = shmem_team_translate_pe(SHMEM_TEAM_WORLD, victim, SHMEM_TEAM_SHARED) >= 0;
    if (!is_near && shmemx_lost_get(here, heap, sizeof here, victim) != 0) {
        /* Its memory is on another host. */
        CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
        CHECK(getenv("SHMEM_TRANSPORT") == NULL);
        return;
    }
    CHECK_EQ(shmemx_lost_get(here, heap, sizeof here, victim), 0);
    for (int i = 0; i < WORDS; i++) CHECK_EQ(here[i], 1000 * victim + i);
    CHECK_EQ(shmemx_lost_get(here, at_rest, sizeof here, victim), 0);
    for (int i = 0; i < WORDS; i++) CHECK_EQ(here[i], -1000 * victim - i);
    if (is_near) {
        CHECK_EQ(shmemx_lost_get(here, in_space, sizeof here[0], victim), 0);
        CHECK_EQ(here[0], 77 * victim);
    }
    CHECK_EQ(shmemx_lost_get(here, heap, 0, victim), 0);
    CHECK_EQ(shmemx_lost_get(here, heap, sizeof here, me), SHMEMX_ERROR_ARGUMENT);
    CHECK_EQ(shmemx_lost_get(here, here, sizeof here, victim), SHMEMX_ERROR_ADDRESS);
    CHECK_EQ(shmemx_lost_get(here, heap, sizeof here, npes), SHMEMX_ERROR_PE);
    CHECK_EQ(shmemx_lost_get(NULL, heap, sizeof here, victim), SHMEMX_ERROR_ADDRESS);
    CHECK_EQ(last_error(), SHMEMX_ERROR_ADDRESS);
}

/* Some PEs, with the one that is lost. */
static void of_sets(void) {
    static long psync[SHMEM_BARRIER_SYNC_SIZE];
    shmemx_request_handle_t request;
    shmemx_aset *set = shmemx_create_strided_aset(victim == npes - 1, 1, npes - 1);
    CHECK(set != NULL);
    if (shmemx_in_aset(set)) {
        LOST(shmemx_barrier_aset(set, psync));
        LOST(shmemx_sync_aset(set, NULL));
        LOST(shmemx_barrier_aset_nb(set, NULL, &request));
    }
    shmemx_delete_aset(set);
}

static void collective(shmem_team_t broken, shmem_team_t whole) {
    static long to[64], from[64];
    static long psync[SHMEM_BARRIER_SYNC_SIZE];
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shmemx_req_h request = SHMEMX_REQ_INVALID;
    LOST(shmem_barrier_all());
    LOST(shmem_sync_all());
    CHECK_EQ(shmem_team_sync(broken), SHMEMX_ERROR_PE_LOST);
    CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
    LOST(shmem_long_broadcast(broken, to, from, 1, 0));
    LOST(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 1));
    LOST(shmem_long_fcollect(broken, to, from, 1));
    LOST(shmem_long_collect(broken, to, from, 1));
    LOST(shmem_long_alltoall(broken, to, from, 1));
    LOST(shmem_long_sum_inscan(broken, to, from, 1));
    LOST(shmem_barrier(0, 0, npes, psync));
    LOST(shmemx_team_sync_nb(broken, &request));
    LOST(shmemx_long_broadcast_nb(broken, to, from, 1, 0, &request));
    CHECK_EQ(shmem_team_split_strided(broken, 0, 1, 1, NULL, 0, &team), SHMEMX_ERROR_PE_LOST);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
    CHECK(shmem_malloc(8) == NULL);
    CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);
    LOST(shmem_free(heap));
    /* A team without the PE goes on; one with it ends at each member for itself. */
    from[0] = 1;
    for (int i = 0; i < 100; i++) WELL(shmem_long_sum_reduce(whole, to, from, 1));
    CHECK_EQ(to[0], shmem_team_n_pes(whole));
    CHECK_EQ(shmemx_long_sum_reduce_nb(whole, to, from, 1, &request), 0);
    CHECK_EQ(shmemx_req_wait(&request), 0);
    WELL(shmem_team_destroy(broken));
}

int main(int argc, char **argv) {
    begin();
    victim = atoi(argv[1]);
    heap = symmetric(sizeof at_rest);
    for (int i = 0; i < WORDS; i++) heap[i] = 1000 * me + i, at_rest[i] = -1000 * me - i;
    shmem_team_t broken, halves[2];
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &broken);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, victim, NULL, 0, &halves[0]);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, victim + 1, 1, npes - victim - 1, NULL, 0, &halves[1]);
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    shmemx_space_config_t config = {.size = 1 << 16};
    shmemx_space_t space;
    CHECK_EQ(shmemx_space_create(SHMEM_TEAM_WORLD, &config, SHMEMX_SPACE_SIZE, &space), 0);
    in_space = shmemx_space_malloc(space, 100 * sizeof *in_space);
    in_space[0] = 77 * me;
    CHECK_EQ(shmemx_job_state(), SHMEMX_OK);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    shmem_barrier_all();
    leave_before(victim, npes - 1);
    if (me == victim) die(argv[2]);

    /* Nothing says when the operation is to fail, but it does. */
    while (last_error() == 0) shmem_long_p(heap, 1000 * victim, victim);
    int list[2] = {-1, -1};
    CHECK_EQ(shmemx_pe_state(victim), SHMEMX_PE_LOST);
    CHECK_EQ(shmemx_pe_state(me), SHMEMX_PE_ALIVE);
    CHECK_EQ(shmemx_job_state(), SHMEMX_DEGRADED);
    CHECK_EQ(shmemx_failed_pes(list, 2), 1);
    CHECK(list[0] == victim && list[1] == -1);
    CHECK(shmem_ptr(heap, victim) == NULL && shmem_ptr(heap, me) == heap);

    one_sided(SHMEM_CTX_DEFAULT);
    one_sided(ctx);
    left_behind();
    collective(broken, halves[me > victim]);
    of_sets();
    LOST(shmemx_space_malloc(space, 8));
    WELL(shmem_ctx_destroy(ctx));
    shmem_finalize();
    printf("PE %d is through\n", me);
    return 0;
}

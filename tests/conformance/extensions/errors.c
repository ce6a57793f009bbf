/* Errors that a program handles: what each kind of routine gives, the words, handlers of teams and of all, a thread's
 * own last error; the job goes on as if nothing had been.
 * pes: 1 2 4
 * libraries: -pthread
 */
#include "check.h"

#include <pthread.h>
#include <shmemx.h>

static long object[64], pSync[SHMEM_SYNC_SIZE];
static int called, codes[8];
static char words[8][256];

static void keep(const shmemx_error_t *error, void *data) {
    CHECK_EQ(error->size, sizeof *error);
    codes[called] = error->code;
    snprintf(words[called], sizeof words[0], "%s", error->message);
    called += *(int *)data;
}

static void last(int code, int peer, const char *routine, int argument, const char *part) {
    shmemx_error_t error = {.size = sizeof error};
    CHECKF(shmemx_error_last(&error) == code, "%d, not %d: %s", error.code, code, error.message);
    CHECK(error.op >= 0 && error.op == shmemx_op_find(routine));
    CHECKF(strstr(error.message, routine) == error.message, "%s: no %s", error.message, routine);
    CHECKF(strstr(error.message, part) != NULL, "%s: no %s", error.message, part);
    CHECK_EQ(error.peer, peer);
    CHECKF(error.argument == argument, "%s: argument %d, not %d", error.message, error.argument, argument);
    /* One that is smaller gets a part of it. */
    struct { size_t size; int code, op; int behind; } small = {.size = offsetof(shmemx_error_t, argument), .behind = 7};
    CHECK_EQ(shmemx_error_last((shmemx_error_t *)(void *)&small), code);
    CHECK(small.code == code && small.op == error.op && small.behind == 7);
    shmemx_error_clear();
    CHECK_EQ(shmemx_error_last(&error), SHMEMX_SUCCESS);
    CHECK(error.code == SHMEMX_SUCCESS && error.op == -1 && strcmp(error.message, "") == 0);
}

static void returned(void) {
    long local[4] = {5, 6, 7, 8};
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL), 0);
    /* Nothing, data, a pointer, a code, an index. */
    shmem_long_put(object, local, 1, npes);
    last(SHMEMX_ERROR_PE, npes, "shmem_long_put", 3, "is not a PE");
    CHECK_EQ(shmem_long_g(object, -1), 0);
    last(SHMEMX_ERROR_PE, -1, "shmem_long_g", 1, "pe = -1");
    CHECK(shmem_double_g((double *)(void *)local, 0) == 0.0);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmem_double_g", 0, "not a symmetric address");
    CHECK_EQ(shmem_long_atomic_fetch_add(object, 1, npes + 3), 0);
    last(SHMEMX_ERROR_PE, npes + 3, "shmem_long_atomic_fetch_add", 2, "is not a PE");
    CHECK(shmem_ptr(object, npes) == NULL);
    last(SHMEMX_ERROR_PE, npes, "shmem_ptr", 1, "is not a PE");
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, local, object, 1) < 0);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmem_long_sum_reduce", 1, "dest = ");
    CHECK(shmem_align(3, 8) == NULL);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmem_align", 0, "a power of two");
    shmem_long_wait_until(object, 4711, 0);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmem_long_wait_until", 1, "cmp = 4711");
    CHECK_EQ(shmem_long_test(object, -3, 0), 0);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmem_long_test", 1, "cmp = -3");
    CHECK(shmem_long_wait_until_any(object, 2, NULL, 99, 0) == SIZE_MAX);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmem_long_wait_until_any", 3, "cmp = 99");
    shmemx_sync_aset(NULL, pSync);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_sync_aset", 0, "null pointer");
    shmem_free(local);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmem_free", 0, "ptr = ");
    shmem_clear_lock(object);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmem_clear_lock", 0, "lock");
    CHECK_EQ(object[0], 0);
    for (int k = 0; k < 4; k++) CHECK_EQ(local[k], 5 + k);
    /* All goes on. */
    shmem_long_p(object + 8, 1 + me, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(object[8], 1 + (me + npes - 1) % npes);
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_SUCCESS);
}

/* What a call that failed gives is no success, and no number that there is; a loop that waits for it ends. */
static void results(void) {
    shmem_team_t wild = (shmem_team_t)(uintptr_t)0x1234567;
    shmemx_aset *no_set = (shmemx_aset *)(uintptr_t)0x1234568;
    shmemx_req_h request = 0x7fffffff00000000;
    shmem_team_config_t config;
    long lock = 0;
    CHECK_EQ(shmem_test_lock(&lock), SHMEMX_ERROR_ADDRESS);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmem_test_lock", 0, "not a symmetric address");
    CHECK_EQ(shmemx_req_test(NULL), SHMEMX_ERROR_ADDRESS);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmemx_req_test", 0, "null pointer");
    while (shmemx_test_req(request) != 1) { }
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_test_req", 0, "request");
    CHECK_EQ(shmemx_errhandler_set(wild, SHMEMX_ERRORS_LOG, NULL), SHMEMX_ERROR_NO_SUCH);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_errhandler_set", 0, "not a team");
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, (shmemx_errhandler_t)99L, NULL), SHMEMX_ERROR_ARGUMENT);
    last(SHMEMX_ERROR_ARGUMENT, -1, "shmemx_errhandler_set", 1, "handler = 99");
    CHECK_EQ(shmemx_space_of(object, NULL), SHMEMX_ERROR_ADDRESS);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmemx_space_of", 1, "null pointer");
    CHECK_EQ(shmem_team_get_config(wild, SHMEM_TEAM_NUM_CONTEXTS, &config), SHMEMX_ERROR_NO_SUCH);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmem_team_get_config", 0, "not a team");
    CHECK_EQ(shmem_team_translate_pe(wild, 0, SHMEM_TEAM_WORLD), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmem_team_translate_pe", -1, "not a team");
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, wild), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmem_team_translate_pe", -1, "not a team");
    CHECK_EQ(shmem_team_my_pe(wild), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmem_team_my_pe", 0, "not a team");
    CHECK_EQ(shmem_team_n_pes(wild), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmem_team_n_pes", 0, "not a team");
    CHECK_EQ(shmemx_aset_index(no_set, 0), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_aset_index", 0, "not an active set");
    CHECK_EQ(shmemx_aset_pe(no_set, 0), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_aset_pe", 0, "not an active set");
    CHECK_EQ(shmemx_aset_size(no_set), -1);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_aset_size", 0, "not an active set");
    CHECK_EQ(shmemx_in_aset(no_set), 0);
    last(SHMEMX_ERROR_NO_SUCH, -1, "shmemx_in_aset", 0, "not an active set");
    CHECK_EQ(shmemx_pe_state(npes), -1);
    last(SHMEMX_ERROR_PE, npes, "shmemx_pe_state", 0, "is not a PE");
    CHECK_EQ(shmemx_locality(npes), -1);
    last(SHMEMX_ERROR_PE, npes, "shmemx_locality", 0, "is not a PE");
    CHECK_EQ(shmemx_failed_pes(NULL, 1), -1);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmemx_failed_pes", 0, "null pointer");
}

static void *in_thread(void *nothing) {
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_SUCCESS);
    shmem_int_p((int *)object, 1, npes);
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_ERROR_PE);
    shmemx_error_clear();
    return nothing;
}

static void of_a_thread(void) {
    shmem_free((char *)object + 1);
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_ERROR_ADDRESS);
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, in_thread, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    last(SHMEMX_ERROR_ADDRESS, -1, "shmem_free", 0, "ptr = ");
}

static void handlers(void) {
    int one = 1;
    long local = 0;
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    CHECK_EQ(shmemx_errhandler_set(team, keep, &one), 0);
    CHECK(shmem_long_max_reduce(team, &local, object, 1) < 0);
    CHECK_EQ(called, 1);
    CHECK_EQ(codes[0], SHMEMX_ERROR_ADDRESS);
    CHECKF(strstr(words[0], "shmem_long_max_reduce: dest = ") == words[0], "%s", words[0]);
    /* Not on another team, and not without one. */
    CHECK(shmem_long_max_reduce(SHMEM_TEAM_WORLD, &local, object, 1) < 0);
    shmem_long_p(object, 1, npes);
    CHECK_EQ(called, 1);
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_ERROR_PE);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, keep, &one), 0);
    shmem_long_p(object, 1, npes);
    CHECK(shmem_long_max_reduce(SHMEM_TEAM_WORLD, &local, object, 1) < 0);
    CHECK_EQ(called, 3);
    CHECK_EQ(codes[1], SHMEMX_ERROR_PE);
    CHECK_EQ(shmemx_errhandler_set(team, SHMEMX_ERRORS_RETURN, NULL), 0);
    CHECK(shmem_long_max_reduce(team, &local, object, 1) < 0);
    CHECK_EQ(called, 3);
    CHECK_EQ(shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_LOG, NULL), 0);
    fflush(stderr);
    shmem_long_p(object, 1, npes);
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_ERROR_PE);
    shmemx_error_clear();
    shmem_team_destroy(team);
}

int main(void) {
    for (int k = 0; k < SHMEM_SYNC_SIZE; k++) pSync[k] = SHMEM_SYNC_VALUE;
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_SUCCESS);
    int provided;
    CHECK_EQ(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    for (int code = 0; code >= -16; code--) {
        CHECK(strlen(shmemx_error_string(code)) > 3);
        for (int other = 0; other > code; other--)
            CHECK(strcmp(shmemx_error_string(code), shmemx_error_string(other)) != 0);
    }
    CHECK(strcmp(shmemx_error_string(-17), shmemx_error_string(1)) == 0);
    shmem_barrier_all();
    returned();
    results();
    of_a_thread();
    handlers();
    return end();
}

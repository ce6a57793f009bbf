/* 5, 6, 7: constants and handles have the values and uses that the specification asks for: handles in static
 * initializers, constants in array bounds and case labels, thread levels in order.
 * pes: 1
 * cflags: -std=gnu11
 * needs: shmem_init
 */
#include "check.h"

/* Easy to get wrong: handles are address constants. */
static shmem_ctx_t context = SHMEM_CTX_DEFAULT;
static shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED, SHMEM_TEAM_INVALID};
static _Thread_local shmem_ctx_t none = SHMEM_CTX_INVALID;
static long sync_array[SHMEM_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE + SHMEM_BARRIER_SYNC_SIZE +
                       SHMEM_COLLECT_SYNC_SIZE + SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_ALLTOALLS_SYNC_SIZE];
static int work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long initial[2] = {SHMEM_SYNC_VALUE, _SHMEM_SYNC_VALUE};

_Static_assert(SHMEM_THREAD_SINGLE < SHMEM_THREAD_FUNNELED && SHMEM_THREAD_FUNNELED < SHMEM_THREAD_SERIALIZED &&
                   SHMEM_THREAD_SERIALIZED < SHMEM_THREAD_MULTIPLE, "thread levels increase");
_Static_assert(SHMEM_SYNC_SIZE >= SHMEM_BCAST_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_REDUCE_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_BARRIER_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_COLLECT_SYNC_SIZE &&
                   SHMEM_SYNC_SIZE >= SHMEM_ALLTOALL_SYNC_SIZE && SHMEM_SYNC_SIZE >= SHMEM_ALLTOALLS_SYNC_SIZE,
               "SHMEM_SYNC_SIZE suffices for all");
_Static_assert(_SHMEM_BCAST_SYNC_SIZE == SHMEM_BCAST_SYNC_SIZE && _SHMEM_REDUCE_SYNC_SIZE == SHMEM_REDUCE_SYNC_SIZE &&
                   _SHMEM_BARRIER_SYNC_SIZE == SHMEM_BARRIER_SYNC_SIZE
                       && _SHMEM_COLLECT_SYNC_SIZE == SHMEM_COLLECT_SYNC_SIZE &&
                   _SHMEM_REDUCE_MIN_WRKDATA_SIZE == SHMEM_REDUCE_MIN_WRKDATA_SIZE &&
                   _SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN && _SHMEM_MAJOR_VERSION == SHMEM_MAJOR_VERSION &&
                   _SHMEM_MINOR_VERSION == SHMEM_MINOR_VERSION, "deprecated spellings");
_Static_assert(SHMEM_SIGNAL_SET != SHMEM_SIGNAL_ADD, "signal operators differ");
_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the vendor string fits");
_Static_assert(SIZE_MAX > 0, "shmem.h brings in stdint.h");

/* One bit each, so that options combine. */
#define ONE_BIT(x) ((x) != 0 && ((x) & ((x) - 1)) == 0)
_Static_assert(ONE_BIT(SHMEM_CTX_SERIALIZED) && ONE_BIT(SHMEM_CTX_PRIVATE) && ONE_BIT(SHMEM_CTX_NOSTORE) &&
                   (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE) ==
                       SHMEM_CTX_SERIALIZED + SHMEM_CTX_PRIVATE + SHMEM_CTX_NOSTORE, "context options");
_Static_assert(ONE_BIT(SHMEM_TEAM_NUM_CONTEXTS) && ONE_BIT(SHMEM_CTX_SESSION_TOTAL_OPS)
    && ONE_BIT(SHMEM_CTX_SESSION_BATCH) &&
                   ONE_BIT(SHMEM_MALLOC_ATOMICS_REMOTE) && ONE_BIT(SHMEM_MALLOC_SIGNAL_REMOTE) &&
                   SHMEM_MALLOC_ATOMICS_REMOTE != SHMEM_MALLOC_SIGNAL_REMOTE, "masks and hints");

static int name_of(int cmp) {
    switch (cmp) {
    case SHMEM_CMP_EQ: return _SHMEM_CMP_EQ;
    case SHMEM_CMP_NE: return _SHMEM_CMP_NE;
    case SHMEM_CMP_GT: return _SHMEM_CMP_GT;
    case SHMEM_CMP_GE: return _SHMEM_CMP_GE;
    case SHMEM_CMP_LT: return _SHMEM_CMP_LT;
    case SHMEM_CMP_LE: return _SHMEM_CMP_LE;
    }
    return -1;
}

int main(void) {
    begin();
    CHECK(context == SHMEM_CTX_DEFAULT && none == SHMEM_CTX_INVALID && context != none);
    CHECK(teams[0] != teams[1] && teams[0] != teams[2] && teams[1] != teams[2]);
    static const int all[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
    for (int i = 0; i < 6; i++) CHECK_EQ(name_of(all[i]), all[i]);
    CHECK(initial[0] == initial[1]);
    CHECK(strcmp(SHMEM_VENDOR_STRING, _SHMEM_VENDOR_STRING) == 0);
    shmem_team_config_t team_config = {.num_contexts = 2};
    shmem_ctx_session_config_t session_config = {.total_ops = SIZE_MAX};
    CHECK(team_config.num_contexts == 2 && session_config.total_ops == SIZE_MAX);
    CHECK(sizeof sync_array > 0 && sizeof work > 0);
    return end();
}

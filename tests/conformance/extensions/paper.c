/* The examples of "OpenSHMEM Extensions and a Vision for its Future Direction" (2014), in the paper's own spelling.
 * pes: 4 13
 * limit: 100
 */
#define SHMEMX_PAPER_NAMES

#include "check.h"

#include <shmemx.h>

static long pSync[SHMEM_BARRIER_SYNC_SIZE], pSync1[SHMEM_BCAST_SYNC_SIZE], pSync2[SHMEM_BCAST_SYNC_SIZE];
static int x, y, z;
static long long target;

static int my_custom_fn(int PE_index, int PE_start, int PE_size, void *const_params) {
    return PE_index * *(int *)const_params + PE_start;
}

int main(void) {
    begin();
    for (int k = 0; k < SHMEM_BARRIER_SYNC_SIZE; k++) pSync[k] = SHMEM_SYNC_VALUE;
    for (int k = 0; k < SHMEM_BCAST_SYNC_SIZE; k++) pSync1[k] = pSync2[k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    int list[] = {0, 2}, two = 2, err = 1;
    shmem_aset *strided = shmem_create_strided_aset(0, 2, 2), *raised = shmem_create_log_strided_aset(0, 1, 2, 2);
    shmem_aset *custom = shmem_create_custom_aset(0, my_custom_fn, 2, &two),
        *generic = shmem_create_generic_aset(list, 2);
    shmem_aset *checked = create_aset_strided(0, 2, 2, &err);
    CHECK_EQ(err, SHMEMX_SUCCESS);
    shmem_aset *sets[] = {strided, raised, custom, generic, checked};
    for (int round = 0; round < 20; round++) for (int k = 0; k < 5; k++) {
        /* Equal lists are one set: here each member gives another of them. */
        shmem_aset *set = sets[(k + me) % 5];
        if (shmem_in_aset(set)) shmem_barrier_aset(set, pSync);
    }
    CHECK(create_aset_strided(0, npes, 2, &err) == NULL);
    CHECK_EQ(err, SHMEMX_ERROR_ARGUMENT);

    shmem_request_handle_t request1, request2;
    shmem_aset *aset1 = shmem_create_strided_aset(0, 1, npes), *aset2 = shmem_create_strided_aset(npes - 1, -1, npes);
    x = me + 5;
    shmem_broadcast32_nb(&y, &x, 1, aset1, pSync1, &request1);
    shmem_broadcast32_nb(&z, &x, 1, 0, aset2, pSync2, &request2);
    shmem_wait_req(request1);
    shmem_wait_request(request2);
    CHECK_EQ(y, me == 0 ? 0 : 5);
    CHECK_EQ(z, me == npes - 1 ? 0 : npes + 4);

    long long oldval = -1;
    shmem_barrier_all();
    shmem_longlong_fadd_nb(&target, 10, 1, &oldval, &request1);
    while (!shmem_test_req(request1)) { }
    CHECK(oldval % 10 == 0 && oldval < 10 * npes);
    shmem_barrier_all();
    if (me == 1) CHECK_EQ(target, 10 * npes);

    shmem_int_put_nb(&x, &me, 1, (me + 1) % npes, &request1);
    shmem_wait_req(request1);
    shmem_barrier_all();
    CHECK_EQ(x, (me + npes - 1) % npes);
    for (int k = 0; k < 4; k++) shmem_delete_aset(sets[k]);
    shmem_aset_delete(checked);
    return end();
}

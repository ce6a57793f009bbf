/* The extensions of OSSS-UCX and of Cray SHMEM, by their names. */
#define SHMEMX_CRAY_NAMES
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("PE %d: line %d: not %s\n", shmem_my_pe(), __LINE__, #condition);                                   \
            shmem_global_exit(1);                                                                                      \
        }                                                                                                              \
    } while (0)

/* Two of them share each word, and neighbours must not be touched. */
static short counters[4] = {-1, 0, 0, -1};
static long to, from = 5;

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();

    shmemx_request_handle_t request;
    shmemx_long_put_nb(&to, &from, 1, (me + 1) % npes, &request);
    shmemx_wait_req(request);
    CHECK(shmemx_fence_test() && shmemx_quiet_test());
    shmem_barrier_all();
    CHECK(to == 5);

    long *heaped = shmemx_malloc_by_name("default", sizeof *heaped);
    CHECK(heaped != NULL && shmemx_name_to_index("default") == 0);
    *heaped = 40 + me;
    shmem_barrier_all();
    long *there = shmemx_lookup_remote_addr(heaped, (me + 1) % npes);
    CHECK(there == NULL || *there == 40 + (me + 1) % npes);
    shmem_barrier_all();
    heaped = shmemx_realloc_by_index(0, heaped, 4 * sizeof *heaped);
    shmemx_free_by_name("default", heaped);

    for (int k = 0; k < 1000; k++) {
        shmem_short_inc(&counters[1], 0);
        shmem_short_add(&counters[2], -2, 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        CHECK(counters[0] == -1 && counters[1] == (short)(1000 * npes));
        CHECK(counters[2] == (short)(-2000 * npes) && counters[3] == -1);
        counters[1] = 32767;
        CHECK(shmem_short_finc(&counters[1], 0) == 32767 && counters[1] == -32768);
        CHECK(shmem_short_fadd(&counters[1], 8, 0) == -32768 && counters[1] == -32760);
        CHECK(shmem_short_swap(&counters[1], 4, 0) == -32760 && counters[1] == 4);
        CHECK(shmem_short_cswap(&counters[1], 3, 9, 0) == 4 && counters[1] == 4);
        CHECK(shmem_short_cswap(&counters[1], 4, -9, 0) == 4 && counters[1] == -9);
        CHECK(counters[0] == -1);
    }
    shmem_barrier_all();
    if (me == 0) printf("others: OK on %d PEs\n", npes);
    shmem_finalize();
    return 0;
}

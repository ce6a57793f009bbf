/* The extensions of Sandia OpenSHMEM, by its names. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("PE %d: line %d: not %s\n", shmem_my_pe(), __LINE__, #condition);                                   \
            shmem_global_exit(1);                                                                                      \
        }                                                                                                              \
    } while (0)

static long flags[3], sums[2], source[2], blocks[12], word = 7;
static uint64_t signal_word;

static uint64_t thread_number(void) { return 1; }

int main(void) {
    shmemx_register_gettid(thread_number);
    double begin = shmemx_wtime();
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes, before = (me + npes - 1) % npes;

    shmemx_signal_set(&signal_word, 3, next);
    shmem_barrier_all();
    shmemx_signal_add(&signal_word, 4, next);
    shmem_barrier_all();
    CHECK(signal_word == 7);

    long from[4] = {1, 2, 3, 4}, back[4] = {0, 0, 0, 0};
    shmemx_long_ibput(blocks, from, 4, 2, 2, 2, next);
    shmem_barrier_all();
    CHECK(blocks[0] == 1 && blocks[1] == 2 && blocks[2] == 0 && blocks[4] == 3 && blocks[5] == 4);
    shmemx_ibget(back, blocks, 2, 4, 2, 2, next);
    CHECK(back[0] == 1 && back[3] == 4);

    source[0] = me + 1, source[1] = 10;
    shmem_barrier_all();
    CHECK(shmemx_long_sum_inscan(SHMEM_TEAM_WORLD, sums, source, 2) == 0);
    CHECK(sums[0] == (long)(me + 1) * (me + 2) / 2 && sums[1] == 10 * (me + 1));
    CHECK(shmemx_sum_exscan(SHMEM_TEAM_WORLD, sums, source, 2) == 0);
    CHECK(sums[0] == (long)me * (me + 1) / 2 && sums[1] == 10 * me);

    long got = 0;
    shmemx_long_atomic_fetch_add_nbi(&got, &word, 5, next);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(got == 7 && word == 12);
    shmem_barrier_all();
    shmemx_atomic_swap_nbi(&got, &word, (long)1, next);
    shmem_quiet();
    shmem_barrier_all();
    CHECK(got == 12 && word == 1);

    shmemx_pcntr_t counters;
    uint64_t writes, reads, count;
    shmemx_pcntr_get_issued_write(SHMEM_CTX_DEFAULT, &writes);
    shmemx_pcntr_get_issued_read(SHMEM_CTX_DEFAULT, &reads);
    for (int k = 0; k < 5; k++) shmem_putmem_nbi(blocks, from, sizeof from, next);
    shmem_long_get(back, blocks, 1, me);
    shmem_long_atomic_fetch(&word, next);
    shmem_long_atomic_add(&sums[1], 1, next);
    shmemx_pcntr_get_all(SHMEM_CTX_DEFAULT, &counters);
    CHECK(counters.completed_put == writes + 6 && counters.completed_get == reads + 2);
    CHECK(counters.pending_put == 0 && counters.pending_get == 0);
    shmemx_pcntr_get_completed_put(SHMEM_CTX_DEFAULT, &count);
    CHECK(count == writes + 6);
    shmemx_pcntr_get_pending_get(SHMEM_CTX_DEFAULT, &count);
    CHECK(count == 0);
    shmemx_pcntr_get_completed_target(SHMEM_CTX_DEFAULT, &count);
    CHECK(count == 0);
    count = 1;
    shmemx_pcntr_get_completed_target(&count);
    CHECK(count == 0);
    shmem_barrier_all();

    for (int k = 0; k < 3; k++) shmem_long_p(&flags[k], k + 1, next);
    shmemx_long_wait_until_all(flags, 3, NULL, SHMEM_CMP_GT, 0);
    CHECK(shmemx_test_any(flags, 3, NULL, SHMEM_CMP_EQ, (long)3) == 2);

    CHECK(shmem_team_n_pes(SHMEMX_TEAM_NODE) >= 1);
    long *memory = shmem_malloc_with_hints(64, SHMEMX_MALLOC_NO_BARRIER | SHMEM_MALLOC_MAX_HINTS);
    CHECK(memory != NULL);

    shmemx_ct_t counter;
    shmemx_ct_create(&counter);
    CHECK(shmemx_ct_get(counter) == 0);
    shmem_barrier_all();
    for (long k = 0; k < 3; k++) shmemx_putmem_ct(counter, &memory[k], &k, sizeof k, next);
    shmemx_ct_wait(counter, 3);
    CHECK(memory[0] == 0 && memory[1] == 1 && memory[2] == 2);
    shmem_barrier_all();
    shmemx_getmem_ct(counter, &got, &memory[2], sizeof got, before);
    shmem_barrier_all();
    CHECK(got == 2 && shmemx_ct_get(counter) == 4);
    shmem_barrier_all();
    shmemx_ct_set(counter, 0);
    CHECK(shmemx_ct_get(counter) == 0);
    shmemx_ct_free(&counter);

    CHECK(shmemx_wtime() >= begin);
    shmem_barrier_all();
    if (me == 0) printf("sandia: OK on %d PEs\n", npes);
    shmem_finalize();
    return 0;
}

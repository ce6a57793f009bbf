/* One mistake a run, chosen by the first argument; the last PE makes it while the others wait in a barrier, or all do
 * where the routine is collective. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long fixed[64];
static int narrow;
static uint64_t signal_word;

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("early-my-pe") { printf("%d\n", shmem_my_pe()); return 0; }
    CASE("early-put") { long v = 1; shmem_long_put(fixed, &v, 1, 0); return 0; }
    CASE("early-p") { shmem_long_p(fixed, 1, 0); return 0; }
    CASE("early-add") { shmem_long_atomic_add(fixed, 1, 0); return 0; }
    CASE("early-malloc") { return shmem_malloc(8) == NULL; }
    CASE("early-barrier") { shmem_barrier_all(); return 0; }
    CASE("early-quiet") { shmem_quiet(); return 0; }
    CASE("early-wait") { shmem_long_wait_until(fixed, SHMEM_CMP_EQ, 0); return 0; }
    CASE("early-reduce") { return shmem_long_sum_reduce(SHMEM_TEAM_WORLD, fixed, fixed + 1, 1); }
    CASE("early-lock") { shmem_set_lock(fixed); return 0; }
    int provided;
    CASE("thread-77") { return shmem_init_thread(77, &provided); }
    CASE("thread-negative") { return shmem_init_thread(-1, &provided); }
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long local[4] = {0}, *private = malloc(64), *heap = shmem_malloc(64), value = 5;
    long *null = NULL;
    /* Kept from the optimizer, which would see the mistakes. */
    __asm__ volatile("" : "+r"(null), "+r"(private));
    shmem_team_t team;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team) != 0) return 0;
    shmem_team_destroy(team);
    /* Bytes of so many do not fit into a size_t. */
    size_t huge = (size_t)1 << 61;
    __asm__ volatile("" : "+r"(huge));
    shmem_barrier_all();
    CASE("thread-nested") { return shmem_init_thread(4, &provided); }
    /* Collective mistakes are made together. */
    CASE("address-reduce") return shmem_long_sum_reduce(SHMEM_TEAM_WORLD, fixed, local, 1);
    CASE("null-dest-reduce") return shmem_long_sum_reduce(SHMEM_TEAM_WORLD, null, fixed, 5);
    CASE("set-size") shmem_barrier(0, 0, 0, fixed);
    CASE("set-beyond") shmem_barrier(0, 1, npes + 1, fixed);
    CASE("set-stride") shmem_sync(0, -1, 1, fixed);
    CASE("alltoalls-stride") return shmem_long_alltoalls(SHMEM_TEAM_WORLD, fixed, heap, 0, 1, 1);
    CASE("root") return shmem_long_broadcast(SHMEM_TEAM_WORLD, fixed, heap, 1, npes);
    CASE("huge-broadcast") return shmem_long_broadcast(SHMEM_TEAM_WORLD, heap, fixed, huge, 0);
    CASE("huge-reduce") return shmem_long_sum_reduce(SHMEM_TEAM_WORLD, heap, fixed, huge);
    if (me != npes - 1) {
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    CASE("pe-p") shmem_long_p(fixed, 1, npes);
    CASE("pe-g") return (int)shmem_long_g(fixed, -1);
    CASE("pe-put") shmem_long_put(fixed, &value, 1, npes + 5);
    CASE("pe-get") shmem_long_get(&value, fixed, 1, -7);
    CASE("pe-put-nbi") shmem_long_put_nbi(fixed, &value, 1, 1000000);
    CASE("pe-iput") shmem_long_iput(fixed, &value, 1, 1, 1, npes);
    CASE("pe-putmem") shmem_putmem(fixed, &value, 8, npes);
    CASE("pe-add") shmem_long_atomic_add(fixed, 1, npes);
    CASE("pe-fetch") return (int)shmem_long_atomic_fetch(fixed, -2);
    CASE("pe-cswap") return (int)shmem_long_atomic_compare_swap(fixed, 0, 1, 99);
    CASE("pe-signal") shmem_long_put_signal(fixed, &value, 1, &signal_word, 1, SHMEM_SIGNAL_SET, npes);
    CASE("pe-signal-set") shmem_signal_set(&signal_word, 1, -1);
    CASE("pe-ctx") shmem_ctx_long_p(SHMEM_CTX_DEFAULT, fixed, 1, npes);
    CASE("address-p") shmem_long_p(local, 1, 0);
    CASE("address-put") shmem_long_put(private, &value, 1, 0);
    CASE("address-get") shmem_long_get(&value, local, 1, 0);
    CASE("address-g") return (int)shmem_long_g(private, 0);
    CASE("address-add") shmem_long_atomic_add(local, 1, 0);
    CASE("address-iput") shmem_long_iput(local, &value, 1, 1, 1, 0);
    CASE("address-signal") shmem_long_put_signal(fixed, &value, 1, (uint64_t *)local, 1, SHMEM_SIGNAL_SET, 0);
    CASE("address-code") shmem_long_p((long *)main, 1, 0);
    CASE("address-literal") shmem_putmem((void *)"literal", &value, 1, 0);
    CASE("address-end") shmem_putmem((char *)heap, private, (size_t)1 << 40, 0);
    CASE("huge-put") shmem_long_put(fixed, &value, huge, 0);
    CASE("negative-put") shmem_putmem(fixed, &value, huge - huge - 5, 0);
    CASE("huge-get") shmem_long_get(&value, fixed, huge + 1, 0);
    CASE("huge-put-nbi") shmem_long_put_nbi(heap, &value, huge, 0);
    CASE("huge-put128") shmem_put128(heap, &value, huge >> 1, 0);
    CASE("huge-iput") shmem_long_iput(fixed, &value, 1, 1, huge, 0);
    CASE("huge-stride") shmem_long_iput(fixed, local, (ptrdiff_t)huge, 1, 2, 0);
    CASE("huge-ibput") shmem_long_ibput(fixed, local, (ptrdiff_t)huge, (ptrdiff_t)huge, huge, 2, 0);
    CASE("huge-signal") shmem_long_put_signal(fixed, &value, huge, &signal_word, 1, SHMEM_SIGNAL_SET, 0);
    CASE("address-wait") shmem_long_wait_until(local, SHMEM_CMP_EQ, 1);
    CASE("address-test") return shmem_long_test(local, SHMEM_CMP_EQ, 1);
    CASE("address-signal-fetch") return (int)shmem_signal_fetch((uint64_t *)local);
    CASE("address-lock") shmem_set_lock(local);
    CASE("odd-add") shmem_long_atomic_add((long *)((char *)fixed + 1), 1, 0);
    CASE("null-lock") shmem_set_lock(null);
    CASE("null-indices") return (int)shmem_long_wait_until_some(fixed, 3, NULL, NULL, SHMEM_CMP_EQ, 0);
    CASE("null-cmp-values") return (int)shmem_long_wait_until_any_vector(fixed, 3, NULL, SHMEM_CMP_EQ, NULL);
    CASE("null-ctx") return shmem_ctx_create(0, NULL);
    CASE("null-team") return shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, NULL);
    long contexts = SHMEM_TEAM_NUM_CONTEXTS;
    CASE("null-config") return shmem_team_get_config(SHMEM_TEAM_WORLD, contexts, NULL);
    CASE("null-config-split") return shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, contexts, &team);
    CASE("set-outside") shmem_barrier(0, 0, npes - 1 > 0 ? npes - 1 : 0, fixed);
    CASE("unset-lock") shmem_clear_lock(fixed);
    CASE("pe-quiet") shmem_pe_quiet(&npes, 1);
    CASE("pe-ptr") return shmem_ptr(fixed, npes) != NULL;
    CASE("destroy-world") shmem_team_destroy(SHMEM_TEAM_WORLD);
    CASE("destroy-default") shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
    CASE("null-dest-p") shmem_long_p(null, 1, 0);
    CASE("null-dest-put") shmem_long_put(null, &value, 3, 0);
    CASE("null-source-put") shmem_long_put(fixed, null, 3, 0);
    CASE("null-dest-get") shmem_long_get(null, fixed, 2, 0);
    CASE("null-source-get") shmem_long_get(&value, null, 1, 0);
    CASE("null-source-putmem") shmem_putmem(fixed, null, 7, 0);
    CASE("null-add") shmem_long_atomic_add(null, 1, 0);
    CASE("null-signal") shmem_long_put_signal(fixed, &value, 1, (uint64_t *)null, 1, SHMEM_SIGNAL_SET, 0);
    CASE("null-wait") shmem_long_wait_until(null, SHMEM_CMP_EQ, 1);
    CASE("null-wait-all") shmem_long_wait_until_all(null, 3, NULL, SHMEM_CMP_EQ, 1);
    CASE("cmp") shmem_long_wait_until(fixed, 4711, 1);
    CASE("cmp-test") return shmem_int_test(&narrow, -3, 1);
    CASE("sig-op") shmem_long_put_signal(fixed, &value, 1, &signal_word, 1, 77, 0);
    CASE("sig-op-nbi") shmem_putmem_signal_nbi(fixed, &value, 8, &signal_word, 1, -1, 0);
    CASE("sig-op-ctx") shmem_ctx_put64_signal(SHMEM_CTX_DEFAULT, fixed, &value, 1, &signal_word, 1, 2, 0);
    CASE("sig-odd") shmem_long_put_signal(fixed, &value, 1, (uint64_t *)((char *)&signal_word + 4), 1, SHMEM_SIGNAL_SET,
                                          0);
    CASE("sig-address-add") shmem_signal_add((uint64_t *)local, 1, 0);
    CASE("sig-address-set") shmem_ctx_signal_set(SHMEM_CTX_DEFAULT, (uint64_t *)local, 1, 0);
    CASE("sig-address-wait") return shmem_signal_wait_until((uint64_t *)local, SHMEM_CMP_EQ, 1) == 1;
    CASE("sig-cmp") return shmem_signal_wait_until(&signal_word, 6, 1) == 1;
    CASE("short-stride") shmem_long_ibput(fixed, local, 1, 2, 2, 2, 0);
    CASE("team-wild") return shmem_team_my_pe((shmem_team_t)(uintptr_t)0x1234560) + 1;
    CASE("ctx-wild") shmem_ctx_long_p((shmem_ctx_t)(uintptr_t)0x1234560, fixed, 1, 0);
    CASE("ctx-invalid") shmem_ctx_long_p(SHMEM_CTX_INVALID, fixed, 1, 0);
    CASE("ctx-destroyed") {
        shmem_ctx_t ctx;
        if (shmem_ctx_create(0, &ctx) != 0) return 0;
        shmem_ctx_destroy(ctx);
        shmem_ctx_long_p(ctx, fixed, 1, 0);
    }
    CASE("team-destroyed") return shmem_team_my_pe(team) + 1;
    CASE("segv") *(volatile long *)null = 1;
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

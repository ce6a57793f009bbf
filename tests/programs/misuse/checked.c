/* One mistake a run that is undefined by the specification and explained with --check; the last PE is the odd one. */
#include <pthread.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long source[64], dest[64];
static shmem_ctx_t of_thread = SHMEM_CTX_DEFAULT;

static void *put_by_thread(void *unused) {
    shmem_ctx_long_p(of_thread, dest, 1, 0);
    return unused;
}

static void by_another_thread(void *(*call)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, call, NULL);
    pthread_join(thread, NULL);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    int provided;
    shmem_init_thread(strncmp(what, "private", 7) == 0 ? SHMEM_THREAD_MULTIPLE
                      : strcmp(what, "funneled") == 0 ? SHMEM_THREAD_FUNNELED : SHMEM_THREAD_SINGLE, &provided);
    int me = shmem_my_pe(), npes = shmem_n_pes(), odd = me == npes - 1;
    long *a = shmem_malloc(64), *b = shmem_malloc(64);
    shmem_team_t team, all = SHMEM_TEAM_WORLD;
    shmem_team_split_strided(all, 0, 1, npes, NULL, 0, &team);
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("barrier-broadcast") {
        if (odd) shmem_barrier_all();
        else shmem_long_broadcast(all, dest, source, 1, 0);
    }
    CASE("sync-finalize") {
        if (!odd) shmem_team_sync(all);
    }
    CASE("barrier-exit") {
        if (!odd) shmem_barrier_all();
        else return 0;
    }
    CASE("team-sync") {
        if (odd) shmem_long_sum_reduce(team, dest, source, 1);
        else shmem_team_sync(team);
    }
    CASE("free") shmem_free(odd ? a : b);
    CASE("free-malloc") {
        if (odd) shmem_free(a);
        else return shmem_malloc(8) == NULL;
    }
    CASE("realloc") return shmem_realloc(a, odd ? 32 : 48) == NULL;
    CASE("split") shmem_team_split_strided(all, 0, 1, odd ? 1 : npes, NULL, 0, &team);
    CASE("dest") shmem_long_fcollect(all, odd ? dest + 8 : dest, source, 1);
    CASE("source") shmem_long_alltoall(all, dest, odd ? a : source, 1);
    CASE("stride") shmem_long_alltoalls(all, dest, source, odd ? 2 : 1, 1, 1);
    CASE("zero") shmem_long_sum_reduce(all, dest, source, odd ? 0 : 1);
    CASE("scan") {
        if (odd) shmem_long_sum_inscan(all, dest, source, 1);
        else shmem_long_sum_exscan(all, dest, source, 1);
    }
    CASE("psync") {
        static long work[SHMEM_SYNC_SIZE];
        memset(work, -1, sizeof work);
        shmem_barrier_all();
        if (!odd) shmem_barrier(0, 0, npes - 1, work);
    }
    /* On all PEs the array is not used: without --check these two run. */
    CASE("psync-stack") {
        long work[SHMEM_SYNC_SIZE] = {0};
        shmem_barrier(0, 0, npes, work);
    }
    CASE("psync-null") shmem_barrier(0, 0, npes, NULL);
    if (strncmp(what, "set-", 4) == 0) {
        /* All PEs but the last; the last of these is the odd one. */
        static long work[SHMEM_SYNC_SIZE], wrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
        int size = npes - 1, other = me == size - 1;
        shmem_barrier_all();
        if (me >= size) {
            shmem_barrier_all();
            return 0;
        }
        CASE("set-kind") {
            if (other) shmem_barrier(0, 0, size, work);
            else shmem_collect64(dest, source, 1, 0, 0, size, work);
        }
        CASE("set-stack") {
            long stack[SHMEM_SYNC_SIZE] = {0};
            shmem_barrier(0, 0, size, stack);
        }
        CASE("set-null") shmem_barrier(0, 0, size, NULL);
        CASE("set-past") shmem_collect64(a, source, other ? 6 : 3, 0, 0, size, work);
        CASE("set-root") shmem_broadcast64(dest, source, 1, other, 0, 0, size, work);
        CASE("set-count") shmem_fcollect64(dest, source, other ? 2 : 1, 0, 0, size, work);
        CASE("set-zero") shmem_alltoall64(dest, source, !other, 0, 0, size, work);
        CASE("set-object") shmem_long_sum_to_all(other ? dest + 8 : dest, source, 1, 0, 0, size, wrk, work);
        CASE("set-operation") {
            if (other) shmem_long_max_to_all(dest, source, 1, 0, 0, size, wrk, work);
            else shmem_long_min_to_all(dest, source, 1, 0, 0, size, wrk, work);
        }
        CASE("set-work") {
            work[7] = other;
            shmem_barrier(0, 0, size, work);
        }
    }
    CASE("world-set") {
        static long work[SHMEM_SYNC_SIZE];
        shmem_barrier_all();
        if (odd) shmem_barrier(0, 0, npes, work);
        else shmem_broadcast64(dest, source, 1, 0, 0, 0, npes, work);
    }
    CASE("odd-wait") shmem_long_wait_until((long *)((char *)dest + 1), SHMEM_CMP_EQ, 0);
    CASE("overlap-reduce") shmem_long_sum_reduce(all, dest, dest + 1, 2);
    CASE("overlap-broadcast") shmem_long_broadcast(all, dest, dest, 2, 0);
    CASE("overlap-collect") shmem_long_collect(all, dest, dest + 1, 2);
    static long lock;
    CASE("lock-clear") {
        if (me == 0) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (odd) shmem_clear_lock(&lock);
        shmem_barrier_all();
    }
    CASE("lock-twice") {
        if (odd) {
            shmem_set_lock(&lock);
            shmem_set_lock(&lock);
        }
        shmem_barrier_all();
    }
    CASE("lock-right") {
        for (int i = 0; i < 3; i++) {
            while (shmem_test_lock(&lock) != 0);
            shmem_clear_lock(&lock);
            shmem_set_lock(&lock);
            shmem_clear_lock(&lock);
        }
    }
    CASE("put-freed") {
        shmem_free(b);
        if (odd) shmem_long_put(b, source, 4, 0);
        shmem_barrier_all();
    }
    CASE("fetch-freed") {
        shmem_free(b);
        if (odd) shmem_signal_fetch((uint64_t *)b);
        shmem_barrier_all();
    }
    CASE("signal-freed") {
        shmem_free(b);
        if (odd) shmem_putmem_signal(dest, source, 8, (uint64_t *)b, 1, SHMEM_SIGNAL_SET, 0);
        shmem_barrier_all();
    }
    CASE("wait-freed") {
        shmem_free(b);
        if (odd) shmem_long_wait_until(b, SHMEM_CMP_EQ, *b);
        shmem_barrier_all();
    }
    CASE("test-freed") {
        shmem_free(b);
        if (odd) shmem_long_test_any(b, 2, NULL, SHMEM_CMP_EQ, *b);
        shmem_barrier_all();
    }
    CASE("lock-freed") {
        shmem_free(b);
        if (odd) shmem_set_lock(b);
        shmem_barrier_all();
    }
    CASE("reduce-freed") {
        shmem_free(b);
        shmem_long_sum_reduce(all, b, source, 2);
    }
    CASE("get-never") {
        if (odd) shmem_long_get(dest, a + (1 << 16), 4, 0);
        shmem_barrier_all();
    }
    CASE("put-past") {
        if (odd) shmem_long_p(b + 8, 1, 0);
        shmem_barrier_all();
    }
    CASE("amo-never") {
        if (odd) shmem_long_atomic_inc(a + (1 << 16), 0);
        shmem_barrier_all();
    }
    CASE("put-from-freed") {
        shmem_free(b);
        if (odd) shmem_putmem(dest, b, 8, 0);
        shmem_barrier_all();
    }
    CASE("put-self") {
        if (odd) shmem_long_put(dest + 1, dest, 4, me);
        shmem_barrier_all();
    }
    CASE("signal-inside") {
        if (odd) shmem_long_put_signal(a, source, 4, (uint64_t *)a + 3, 1, SHMEM_SIGNAL_ADD, 0);
        shmem_barrier_all();
    }
    CASE("signal-inside-nbi") {
        if (odd) shmem_long_put_signal_nbi(dest, source, 4, (uint64_t *)dest, 1, SHMEM_SIGNAL_SET, 0);
        shmem_barrier_all();
    }
    CASE("fetch-self") {
        if (odd) shmem_long_atomic_swap_nbi(&dest[1], &dest[1], 5, me);
        shmem_barrier_all();
    }
    CASE("fetch-self-source") {
        if (odd) shmem_double_atomic_fetch_nbi((double *)dest, (double *)dest, me);
        shmem_barrier_all();
    }
    CASE("iput-self") {
        if (odd) shmem_long_iput(dest, dest + 1, 1, 1, 4, me);
        shmem_barrier_all();
    }
    CASE("iget-self") {
        if (odd) shmem_long_iget(dest, dest + 4, 2, 1, 3, me);
        shmem_barrier_all();
    }
    CASE("ibput-self") {
        if (odd) shmem_long_ibput(dest, dest + 1, 2, 2, 2, 2, me);
        shmem_barrier_all();
    }
    CASE("iput-past") {
        if (odd) shmem_long_iput(a, source, 5, 1, 3, 0);
        shmem_barrier_all();
    }
    CASE("iget-past") {
        if (odd) shmem_long_iget(source, a, 1, 5, 3, 0);
        shmem_barrier_all();
    }
    CASE("iput-zero") {
        if (odd) shmem_long_iput(dest, source, 0, 1, 3, 0);
        shmem_barrier_all();
    }
    CASE("ibget-short") {
        if (odd) shmem_long_ibget(dest, source, 1, 2, 2, 3, 0);
        shmem_barrier_all();
    }
    CASE("alltoalls-overlap") shmem_long_alltoalls(all, dest, dest + 2, 2, 1, 1);
    CASE("alltoalls-past") shmem_long_alltoalls(all, a, source, 4, 1, 2);
    CASE("alltoall-past") shmem_long_alltoall(all, a, source, 5);
    CASE("collect-past") shmem_long_collect(all, dest, a, 9);
    CASE("collect-sum-past") shmem_long_collect(all, a, source, odd ? 6 : 3);
    CASE("test-past") shmem_long_test_all(a, 9, NULL, SHMEM_CMP_EQ, 0);
    CASE("wait-past") shmem_long_wait_until_all(a, 9, NULL, SHMEM_CMP_EQ, a[0]);
    CASE("barrier-sync") {
        if (odd) shmem_barrier_all();
        else shmem_sync_all();
    }
    CASE("reduce-type") {
        if (odd) shmem_int_sum_reduce(all, (int *)dest, (int *)source, 2);
        else shmem_long_sum_reduce(all, dest, source, 1);
    }
    CASE("reduce-kind") {
        if (odd) shmem_double_sum_reduce(all, (double *)dest, (double *)source, 1);
        else shmem_long_sum_reduce(all, dest, source, 1);
    }
    CASE("scan-type") {
        if (odd) shmem_int_sum_inscan(all, (int *)dest, (int *)source, 2);
        else shmem_long_sum_inscan(all, dest, source, 1);
    }
    CASE("private") {
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &of_thread);
        by_another_thread(put_by_thread);
    }
    CASE("private-right") {
        shmem_ctx_create(SHMEM_CTX_PRIVATE, &of_thread);
        put_by_thread(NULL);
        shmem_ctx_quiet(of_thread);
        shmem_ctx_destroy(of_thread);
        of_thread = SHMEM_CTX_DEFAULT;
        by_another_thread(put_by_thread);
    }
    CASE("single") by_another_thread(put_by_thread);
    CASE("funneled") by_another_thread(put_by_thread);
    CASE("align-4") shmem_align(4, 64);
    CASE("strided-right") {
        /* Between each other's elements; up to the last one of the object. */
        shmem_long_iput(dest, dest + 1, 2, 2, 8, me);
        shmem_long_iget(dest + 1, dest, 2, 2, 8, me);
        shmem_long_ibput(dest, dest + 2, 4, 4, 2, 4, me);
        shmem_long_iput(a, source, 7, 1, 2, (me + 1) % npes);
        shmem_long_iput(a + 7, source, -7, 0, 2, (me + 1) % npes);
        shmem_long_ibget(source, a, 3, 5, 3, 2, (me + 1) % npes);
        shmem_long_alltoalls(all, dest, dest + 1, 2, 2, 2);
        shmem_long_put_signal(a, source, 7, (uint64_t *)a + 7, 1, SHMEM_SIGNAL_SET, me);
        if (odd) shmem_long_atomic_fetch_nbi(&dest[0], &dest[0], 0);
        shmem_long_atomic_fetch_inc_nbi(&dest[2], &dest[1], me);
        shmem_quiet();
        shmem_long_test_all(a, 8, NULL, SHMEM_CMP_GE, 0);
        shmem_long_wait_until_all(NULL, 0, NULL, SHMEM_CMP_EQ, 0);
    }
    CASE("session") {
        shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH | 0x20, NULL, 0x40);
        shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0x20, NULL, 0x40);
        shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    }
    CASE("session-null") shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, SHMEM_CTX_SESSION_TOTAL_OPS);
    CASE("put-right") {
        /* Not the last, which the other PE asks for below. */
        shmem_long_put(a, b, 7, (me + 1) % npes);
        shmem_long_put(dest, dest, 8, me);
        shmem_long_put(dest, dest + 8, 8, me);
        shmem_long_iput(a, source, 2, 1, 4, me);
        shmem_long_p(&a[7], 1, me);
        shmem_long_get(source, a, 0, me);
        return shmem_long_g(&a[7], me) != 1;
    }
    CASE("hints") {
        long *hinted = shmem_malloc_with_hints(64, 0x40 | SHMEM_MALLOC_ATOMICS_REMOTE);
        if (hinted == NULL || (uintptr_t)hinted % 64 != 0) return 3;
    }
    CASE("team-twice") {
        shmem_team_destroy(team);
        shmem_team_destroy(team);
    }
    CASE("ctx-twice") {
        shmem_ctx_t ctx;
        if (shmem_ctx_create(0, &ctx) != 0) return 0;
        shmem_ctx_destroy(ctx);
        shmem_ctx_destroy(ctx);
    }
    CASE("ctx-of-team") {
        shmem_ctx_t ctx;
        if (shmem_team_create_ctx(team, 0, &ctx) != 0) return 0;
        shmem_team_destroy(team);
        shmem_ctx_long_p(ctx, dest, 1, 0);
    }
    CASE("heap") {
        /* Null pointers are no mistake, but hard to find for a program that does not look. */
        if (shmem_malloc((size_t)1 << 40) != NULL || shmem_calloc((size_t)1 << 39, 4) != NULL) return 3;
        if (shmem_realloc(a, (size_t)1 << 40) != NULL) return 4;
    }
    CASE("heap-64m") {
        if (shmem_malloc((size_t)1 << 26) != NULL) return 3;
    }
    CASE("align-2g") {
        if (shmem_align((size_t)1 << 31, 8) != NULL) return 3;
    }
    CASE("calloc-product") {
        if (shmem_calloc((size_t)1 << 33, (size_t)1 << 33) != NULL) return 3;
    }
    shmem_finalize();
    return 0;
}

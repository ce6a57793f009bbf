/* One use of memory or of a request a run that --check explains, or that is right; the last PE is the odd one. */
#include <fcntl.h>
#include <pthread.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

static long source[64], dest[64], other[64], flag;

static shmemx_req_h shared;

static void *wait_for_shared(void *unused) {
    (void)unused;
    shmemx_wait_req(shared);
    return NULL;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    int level;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes, odd = me == npes - 1;
    shmem_team_t all = SHMEM_TEAM_WORLD;
    shmemx_req_h request = SHMEMX_REQ_INVALID, second = SHMEMX_REQ_INVALID;
    long old = 0;
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("source-written") {
        shmemx_long_put_nb(dest, source, 8, next, &request);
        shmem_long_get(source + 7, other, 1, next);
    }
    CASE("target-read") {
        shmemx_long_get_nb(source, other, 8, next, &request);
        shmem_long_put(dest, source + 4, 1, next);
    }
    CASE("target-own") {
        shmemx_long_get_nb(source, other, 8, next, &request);
        shmem_long_p(source, 1, me);
    }
    CASE("two-puts") {
        shmemx_long_put_nb(dest, source, 8, next, &request);
        shmemx_long_put_nb(dest + 7, source, 8, next, &second);
    }
    CASE("without-handle") {
        shmemx_long_put_nb(dest, source, 8, next, NULL);
        shmem_long_p(dest, 1, next);
    }
    CASE("put-atomic") {
        shmemx_long_put_nb(&flag, source, 1, next, &request);
        shmem_long_atomic_inc(&flag, next);
    }
    CASE("old") {
        shmemx_long_finc_nb(&flag, next, other, &request);
        shmemx_long_finc_nb(&flag, next, other, &second);
    }
    CASE("reduce-source") {
        shmemx_long_sum_reduce_nb(all, dest, source, 4, &request);
        shmem_long_p(source + 3, 1, me);
    }
    CASE("collect-past") {
        long *small = shmem_malloc(8 * sizeof *small);
        shmemx_long_collect_nb(all, small, source, odd ? 6 : 3, &request);
        shmemx_req_wait(&request);
    }
    CASE("two-collectives") {
        shmemx_long_sum_reduce_nb(all, dest, source, 4, &request);
        shmemx_long_broadcast_nb(all, dest + 3, other, 4, 0, &second);
    }
    CASE("blocking-collective") {
        shmemx_long_fcollect_nb(all, dest, source, 4, &request);
        shmem_long_sum_reduce(all, other, dest + 4 * npes - 1, 1);
    }
    CASE("file") {
        shmemx_file_t file;
        shmemx_file_open(all, "/dev/null", O_WRONLY, 0, &file);
        shmemx_file_write_at_nb(file, source, sizeof source, 0, &request);
        shmem_long_get(source, dest, 1, next);
    }
    CASE("order") {
        if (odd) shmemx_long_sum_reduce_nb(all, dest, source, 4, &request);
        else shmemx_long_fcollect_nb(all, dest, source, 4, &request);
        shmemx_req_wait(&request);
    }
    CASE("order-of-two") {
        for (int i = 0; i < 2; i++) {
            if (odd == i) shmemx_long_sum_reduce_nb(all, dest, source, 4, i ? &request : &second);
            else shmemx_team_sync_nb(all, i ? &request : &second);
        }
        shmemx_req_wait(&request);
        shmemx_req_wait(&second);
    }
    CASE("size") {
        shmemx_long_broadcast_nb(all, dest, source, odd ? 3 : 4, 0, &request);
        shmemx_req_wait(&request);
    }
    CASE("nothing") {
        shmemx_long_fcollect_nb(all, dest, source, odd ? 0 : 4, &request);
        shmemx_req_wait(&request);
    }
    CASE("root") {
        shmemx_long_broadcast_nb(all, dest, source, 4, odd, &request);
        shmemx_req_wait(&request);
    }
    CASE("operation") {
        if (odd) shmemx_long_max_reduce_nb(all, dest, source, 4, &request);
        else shmemx_long_min_reduce_nb(all, dest, source, 4, &request);
        shmemx_req_wait(&request);
    }
    CASE("two-threads") {
        pthread_t thread;
        if (odd) {
            shmemx_team_sync_nb(all, &shared);
            pthread_create(&thread, NULL, wait_for_shared, NULL);
            shmemx_wait_req(shared);
            pthread_join(thread, NULL);
        } else {
            for (;;) shmem_long_atomic_fetch(&flag, me);
        }
    }
    CASE("forgotten") {
        for (int i = 0; i < 3; i++) shmemx_long_inc_nb(&flag, next, &request);
        shmemx_team_sync_nb(all, &request);
        shmemx_long_finc_nb(&flag, next, &old, &second);
        shmemx_wait_req(second);
    }
    CASE("right") {
        shmemx_long_put_nb(dest, source, 8, next, &request);
        shmem_long_put(other, source, 8, next);
        shmem_long_p(dest + 8, 1, next);
        shmemx_wait_req(request);
        shmem_barrier_all();
        shmem_long_p(dest, 1, next);
        shmem_barrier_all();
        /* The same memory of another PE is other memory. */
        if (npes > 2) {
            shmemx_long_put_nb(dest, source, 8, next, &request);
            shmemx_long_put_nb(dest, source, 8, (me + 2) % npes, &second);
            shmemx_req_wait(&request);
            while (shmemx_req_test(&second) == 1);
        }
        shmem_barrier_all();
        /* Quiet completes transfers, with a handle and without one. */
        shmemx_long_put_nb(dest, source, 8, next, NULL);
        shmemx_long_put_nb(other, source, 8, next, &request);
        shmem_quiet();
        shmem_long_p(dest, 1, next);
        shmem_long_p(other, 1, next);
        shmemx_wait_req(request);
        shmemx_long_put_nb(dest, source, 8, next, &request);
        shmem_pe_quiet(&next, 1);
        shmem_long_p(dest, 1, next);
        shmemx_wait_req(request);
        long seen[2];
        shmemx_long_finc_nb(&flag, next, &seen[0], &request);
        shmemx_long_fadd_nb(&flag, 2, next, &seen[1], &second);
        shmem_long_atomic_inc(&flag, next);
        shmemx_wait_req(request);
        shmemx_wait_req(second);
        shmem_barrier_all();
        shmemx_long_fcollect_nb(all, dest, source, 4, &request);
        shmemx_long_broadcast_nb(all, other, source, 4, 0, &second);
        shmem_long_put(dest + 4 * npes, source, 4, me);
        shmemx_req_wait(&second);
        shmemx_req_wait(&request);
        shmemx_long_collect_nb(all, dest, source, (size_t)me, &request);
        shmemx_req_wait(&request);
        shmemx_long_sum_reduce_nb(all, dest, dest, 4, &request);
        shmemx_req_wait(&request);
        shmemx_team_sync_nb(all, NULL);
        shmem_barrier_all();
        return 0;
    }
    shmem_finalize();
    return 0;
}

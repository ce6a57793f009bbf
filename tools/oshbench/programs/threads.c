/*
 * Threads of PE 0 that all send to PE 1: on the default context, and each on a private context of its own. What is
 * reported is time by operation of all threads together, so that threads which do not hinder each other halve it where
 * there are two cores for them.
 */
#define _GNU_SOURCE
#include "shmem_bench.h"

#include <pthread.h>
#include <sched.h>

#define MOST 4
#define LINE 16 /* longs */

enum operation { PUT_QUIET, FETCH_ADD, PUT_NBI };
static const char *const NAMES[] = {"put+quiet", "fetch_add", "put_nbi"};

static long *words, done;
static pthread_barrier_t meeting;
static int threads;
static enum operation operation;
static long calls;
static double began, took;

struct thread {
    pthread_t id;
    int number;
    shmem_ctx_t ctx;
};

static void operate(shmem_ctx_t ctx, long *word, long n)
{
    long value = 1;
    switch (operation) {
    case PUT_QUIET:
        for (long i = 0; i < n; i++) {
            shmem_ctx_long_put(ctx, word, &value, 1, 1);
            shmem_ctx_quiet(ctx);
        }
        break;
    case FETCH_ADD:
        for (long i = 0; i < n; i++)
            shmem_ctx_long_atomic_fetch_add(ctx, word, 1, 1);
        break;
    case PUT_NBI:
        for (long i = 0; i < n; i++) {
            shmem_ctx_long_put_nbi(ctx, word, &value, 1, 1);
            if (i % 64 == 63)
                shmem_ctx_quiet(ctx);
        }
        shmem_ctx_quiet(ctx);
        break;
    }
}

static void *run(void *of)
{
    struct thread *self = of;
    operate(self->ctx, &words[self->number * LINE], calls / 8 + 1);
    if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
        began = now_ns();
    pthread_barrier_wait(&meeting);
    operate(self->ctx, &words[self->number * LINE], calls);
    if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
        took = now_ns() - began;
    pthread_barrier_wait(&meeting);
    return NULL;
}

/* Nanoseconds by operation of so many threads. */
static double measure(int is_private)
{
    struct thread all[MOST];
    pthread_barrier_init(&meeting, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        all[i] = (struct thread){.number = i, .ctx = SHMEM_CTX_DEFAULT};
        if (is_private && shmem_ctx_create(SHMEM_CTX_PRIVATE, &all[i].ctx) != 0) {
            fprintf(stderr, "there is no context %d\n", i);
            shmem_global_exit(1);
        }
    }
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&all[i].id, NULL, run, &all[i]) != 0) {
            fprintf(stderr, "there is no thread %d\n", i);
            shmem_global_exit(1);
        }
    }
    for (int i = 0; i < threads; i++)
        pthread_join(all[i].id, NULL);
    for (int i = 0; i < threads && is_private; i++)
        shmem_ctx_destroy(all[i].ctx);
    pthread_barrier_destroy(&meeting);
    return took / (double)(calls * threads);
}

/* Launchers give each PE a core; its threads want all that there are. */
static void spread(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

int main(int argc, char **argv)
{
    int provided;
    spread();
    quick = quick_asked(argc, argv);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    need(2);
    if (provided != SHMEM_THREAD_MULTIPLE) {
        fprintf(stderr, "this library has no threads\n");
        shmem_global_exit(1);
    }
    words = symmetric(MOST * LINE * sizeof *words);
    int is_near = shmem_ptr(words, 1 - me) != NULL;
    shmem_barrier_all();
    for (int k = 0; k < 3 && me == 0; k++) {
        operation = (enum operation)k;
        for (threads = 1; threads <= MOST; threads *= 2) {
            calls = (is_near ? 200000 : 2000) / (quick ? 10 : 1);
            double of[2][9];
            for (int turn = 0; turn < 9; turn++) {
                of[0][turn] = measure(0);
                of[1][turn] = measure(1);
            }
            struct timing t = {.ns = median(of[1], 9), .limit_ns = median(of[0], 9)};
            char name[64];
            snprintf(name, sizeof name, "%s%s-%d-thread%s", is_near ? "" : "net-", NAMES[k], threads,
                     threads == 1 ? "" : "s");
            report(name, "heap", 8, npes, t, "default-ctx");
        }
    }
    /* The threads get both cores of a small machine: a PE of the same host has nothing to do for them. */
    if (is_near && me == 0)
        shmem_long_p(&done, 1, 1);
    while (is_near && me == 1 && shmem_long_g(&done, 1) == 0)
        usleep(1000);
    shmem_barrier_all();
    shmem_free(words);
    shmem_finalize();
    return 0;
}

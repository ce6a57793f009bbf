/*
 * How much stack each group of routines uses: they run in a thread whose stack was painted before. Prints a line a
 * group; fails where a group uses more than the arguments allow (bytes, by group).
 */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 256 << 10, PAINT = 0xa7 };

static long word, lock, words[4096], more[4096 * 4];
static int me, npes, next;

static void transfers(void) {
    for (int i = 0; i < 20; i++) {
        shmem_long_p(&word, 1, next);
        word += shmem_long_g(&words[1], next);
        shmem_long_put(words, more, 4096, next);
        shmem_long_get(words, more, 4096, next);
        shmem_long_put_nbi(words, more, 3, next);
        shmem_long_iput(words, more, 2, 3, 100, next);
    }
    shmem_quiet();
}

static void atomics(void) {
    for (int i = 0; i < 20; i++) {
        shmem_long_atomic_add(&word, 1, next);
        if (shmem_long_atomic_fetch_add(&word, 1, next) < 0) exit(4);
        shmem_long_put_signal(words, more, 64, (uint64_t *)&words[4000], 1, SHMEM_SIGNAL_ADD, next);
    }
    shmem_quiet();
}

static void waits(void) {
    shmem_long_p(&words[10], 7, next);
    shmem_long_wait_until(&words[10], SHMEM_CMP_EQ, 7);
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
}

static void barriers(void) {
    for (int i = 0; i < 5; i++) {
        shmem_barrier_all();
        shmem_sync_all();
    }
}

static void collectives(void) {
    static const int counts[] = {1, 100, 4096};
    for (int i = 0; i < 3; i++) {
        int n = counts[i];
        shmem_long_broadcast(SHMEM_TEAM_WORLD, words, more, (size_t)n, 0);
        shmem_barrier_all();
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, more, (size_t)n);
        shmem_barrier_all();
        shmem_long_sum_exscan(SHMEM_TEAM_WORLD, words, more, (size_t)n);
        shmem_barrier_all();
        shmem_long_collect(SHMEM_TEAM_WORLD, more, words, (size_t)n);
        shmem_barrier_all();
        shmem_long_alltoall(SHMEM_TEAM_WORLD, more, words, (size_t)(n / npes));
        shmem_barrier_all();
    }
}

static void management(void) {
    shmem_team_t team;
    shmem_ctx_t ctx;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team);
    if (shmem_ctx_create(0, &ctx) == 0) shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    shmem_free(shmem_malloc(1000));
}

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {{"transfers", transfers},     {"atomics and signals", atomics}, {"waits and locks", waits},
              {"barriers", barriers},       {"collectives", collectives},     {"heap, teams, contexts", management}};

static void *in_thread(void *group) {
    groups[(size_t)group].run();
    return NULL;
}

int main(int count, char **arguments) {
    int provided, failed = 0;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    next = (me + 1) % npes;
    shmem_barrier_all();
    unsigned char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t group = 0; group < sizeof groups / sizeof *groups; group++) {
        pthread_t thread;
        pthread_attr_t attributes;
        memset(stack, PAINT, STACK);
        pthread_attr_init(&attributes);
        if (pthread_attr_setstack(&attributes, stack, STACK) != 0) return 3;
        if (pthread_create(&thread, &attributes, in_thread, (void *)group) != 0) return 3;
        pthread_join(thread, NULL);
        size_t unused = 0;
        while (unused < STACK && stack[unused] == PAINT) unused++;
        /* What glibc has of the stack for itself: thread-local storage at its top. */
        size_t used = STACK - unused;
        shmem_barrier_all();
        printf("%s: %zu bytes\n", groups[group].name, used);
        if (count > (int)group + 1 && used > (size_t)atol(arguments[group + 1])) failed = 1;
    }
    shmem_barrier_all();
    shmem_finalize();
    return failed;
}

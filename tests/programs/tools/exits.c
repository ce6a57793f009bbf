/* The library works until the last of the process: exit handlers registered before shmem_init, after it and after
 * shmem_finalize, thread-local destructors of threads, and calls of shmem_finalize too many. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long word, sum, one = 1, gathered[16];

static void use(const char *when) {
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    long got = -1;
    shmem_barrier_all();
    shmem_long_p(&word, me, next);
    shmem_barrier_all();
    shmem_long_get(&got, &word, 1, next);
    long *heap = shmem_malloc(80);
    int reduced = shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    /* Nothing to collect is fine. */
    int collected = shmem_long_collect(SHMEM_TEAM_WORLD, gathered, &one, me == 0 ? 0 : 1);
    if (got == me && heap != NULL && reduced == 0 && sum == npes && collected == 0)
        fprintf(stderr, "works: %s on %d\n", when, me);
    shmem_free(heap);
    shmem_finalize();
}

static void early(void) { use("handler from before init"); }
static void middle(void) { use("handler from between"); }
static void late(void) { use("handler from after finalize"); }
static void at_thread_exit(void *unused) {
    (void)unused;
    long got = -1;
    shmem_long_p(&word, 7, shmem_my_pe());
    shmem_long_get(&got, &word, 1, shmem_my_pe());
    if (got == 7) fprintf(stderr, "works: thread on %d\n", shmem_my_pe());
    shmem_finalize();
}
static void *thread(void *key) {
    pthread_setspecific(*(pthread_key_t *)key, key);
    return NULL;
}

int main(void) {
    pthread_key_t key;
    pthread_t one_more;
    atexit(early);
    shmem_init();
    atexit(middle);
    shmem_barrier_all();
    shmem_finalize();
    shmem_finalize();
    atexit(late);
    pthread_key_create(&key, at_thread_exit);
    pthread_create(&one_more, NULL, thread, &key);
    pthread_join(one_more, NULL);
    return 0;
}

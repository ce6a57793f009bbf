/* A tool that communicates as late as it can: from an exit handler that it registers first of all, from a destructor,
 * from a thread-local destructor, after it has finalized twice. It has threads of its own, too. */
#include <pshmem.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long *heap;
static volatile long ticks;
static pthread_t helper;
static volatile int stop;

static void talk(const char *when) {
    int me = pshmem_my_pe(), npes = pshmem_n_pes(), next = (me + 1) % npes;
    long value = 0;
    pshmem_long_p(heap, 40 + next, next);
    pshmem_barrier_all();
    pshmem_long_get(&value, heap, 1, next);
    void *more = pshmem_malloc(100);
    pshmem_free(more);
    if (value == 40 + (me + 1) % npes && more != NULL) fprintf(stderr, "late: %s on %d\n", when, me);
    pshmem_barrier_all();
}

static void at_exit(void) {
    pshmem_finalize();
    talk("exit handler");
}

static void at_thread_exit(void *unused) {
    (void)unused;
    pshmem_long_p(heap + 1, 1, pshmem_my_pe());
    fprintf(stderr, "late: thread on %d\n", pshmem_my_pe());
}

static void *tick(void *unused) {
    pthread_key_t key;
    pthread_key_create(&key, at_thread_exit);
    pthread_setspecific(key, &key);
    while (!stop) {
        ticks++;
        usleep(100);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void) { atexit(at_exit); }
__attribute__((destructor)) static void end(void) { talk("destructor"); }

void shmem_init(void) {
    pshmem_init();
    heap = pshmem_malloc(64);
    pthread_create(&helper, NULL, tick, NULL);
}

void shmem_finalize(void) {
    stop = 1;
    pthread_join(helper, NULL);
    pshmem_finalize();
    pshmem_finalize();
}

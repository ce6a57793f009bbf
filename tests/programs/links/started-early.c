/* Threads and handlers that store to static objects while shmem_init moves these into shared memory: nothing that they
 * store is lost. Started before as an allocator, a logger or an interpreter do it. */
#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { THREADS = 3, LARGE = 8 << 20 };

static struct { _Alignas(64) long count; } counts[THREADS];
static char large[LARGE] = {1};
static volatile int noted = -1;
static _Atomic int stop;
static _Atomic int ticks;
static long own[THREADS];
static _Atomic int *own_ticks;

static void *work(void *argument) {
    long *count = &counts[(long)argument].count, *known = &own[(long)argument];
    long last = 0;
    while (!atomic_load(&stop)) {
        /* Each store builds on the one before; memory is allocated, whose state a static program has there, too. */
        *(volatile long *)count = *(volatile long *)count + 1;
        last++;
        if (last % 64 == 0) free(malloc((size_t)(16 + last % 1000)));
    }
    *known = last;
    return NULL;
}

/* It may not have run yet when shmem_init begins. */
static void *note(void *argument) {
    (void)argument;
    noted = 1;
    return NULL;
}

static void tick(int signal) {
    (void)signal;
    atomic_fetch_add(&ticks, 1);
    atomic_fetch_add(own_ticks, 1);
}

int main(void) {
    pthread_t threads[THREADS];
    memset(large, 7, sizeof large);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) {
        while (*(volatile long *)&counts[i].count == 0) sched_yield();
    }
    /* Not static. */
    own_ticks = calloc(1, sizeof *own_ticks);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_t last;
    pthread_create(&last, NULL, note, NULL);
    shmem_init();
    pthread_join(last, NULL);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&stop, 1);
    int wrong = 0;
    for (long i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (counts[i].count != own[i]) {
            printf("PE %d: thread %ld has counted %ld, of which %ld are there\n", shmem_my_pe(), i, own[i],
                   counts[i].count);
            wrong = 1;
        }
    }
    if (atomic_load(&ticks) != atomic_load(own_ticks)) wrong = 2;
    if (noted != 1) wrong = 5;
    /* They are symmetric. */
    static long from = -1;
    int npes = shmem_n_pes(), me = shmem_my_pe();
    shmem_barrier_all();
    shmem_long_p(&from, me, (me + 1) % npes);
    shmem_barrier_all();
    if (from != (me + npes - 1) % npes || large[LARGE - 1] != 7) wrong = 3;
    struct sigaction now;
    sigaction(SIGALRM, NULL, &now);
    if (now.sa_handler != tick) wrong = 4;
    shmem_finalize();
    return wrong;
}

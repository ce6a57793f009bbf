/* Calls from a signal handler that interrupts the program anywhere, a thousand times a second. One case a run. */
#include <setjmp.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long word, counter, block[64];
static int me, npes, next;
static volatile long handled;
static sigjmp_buf back;

static void transfers(int number) {
    (void)number;
    shmem_long_p(&word, handled, next);
    shmem_long_atomic_inc(&counter, next);
    handled++;
}

static void one(int number) {
    (void)number;
    shmem_long_p(&word, 1, next);
}

static void barrier(int number) {
    (void)number;
    shmem_barrier_all();
}

static void marker(int number) {
    (void)number;
    shmem_pcontrol(SHMEMX_PCONTROL_MARKER, "tick", 1.0);
    shmem_pcontrol(handled & 1 ? 1 : 0);
    handled++;
}

static void leave(int number) {
    (void)number;
    siglongjmp(back, 1);
}

static void every(long microseconds, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void never(void) {
    struct itimerval timer = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Short calls of several kinds, long ones, and regions, until enough handlers have run. */
static void work(long enough, double most) {
    long turns = 0;
    static long source[64];
    for (double until = now() + most; handled < enough && now() < until; turns++) {
        for (int i = 0; i < 50; i++) {
            shmem_long_p(&block[i], i, next);
            shmem_long_put(block, source, 32, next);
            if (shmem_long_g(&block[i], next) == -1) exit(5);
            shmem_long_atomic_add(&counter, 1, next);
        }
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, turns & 1 ? "odd" : "even");
        shmem_quiet();
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, turns & 1 ? "odd" : "even");
    }
    never();
    printf("turns %ld handled %ld\n", turns, (long)handled);
}

/* What --check looks at: objects of the heap, which come and go, and transfers that are under way. */
static void check(long enough, double most) {
    for (double until = now() + most; handled < enough && now() < until;) {
        long *object = shmem_malloc(sizeof block), *own = malloc(sizeof block);
        memset(own, 0, sizeof block);
        for (int i = 0; i < 50; i++) {
            shmem_long_put_nbi(object, own, 32, me);
            shmem_long_p(&object[40], i, me);
            shmem_long_put_nbi(block, own, 32, me);
            shmem_long_get(own, &object[40], 1, me);
            shmem_quiet();
        }
        shmem_free(object);
        free(own);
    }
    never();
    printf("handled %ld\n", (long)handled);
}

static int number;
static void (*call)(void);

static void p_call(void) { shmem_int_p(&number, 1, next); }
static void put_call(void) { shmem_putmem(block, &word, sizeof word, next); }
static void g_call(void) { (void)shmem_int_g(&number, next); }
static void inc_call(void) { shmem_long_atomic_inc(&counter, next); }

static void same(int signal) {
    (void)signal;
    call();
    handled++;
}

/* The loop and the handler make the same call: an addition that is not one instruction loses some of them. */
static void count_calls(const char *variable, void (*what)(void)) {
    const long calls = 3000000;
    int64_t before = 0, after = 0;
    int var = shmemx_var_find(variable);
    call = what;
    call();
    handled = 0;
    if (shmemx_var_read(var, &before, 1) <= 0) exit(6);
    every(50, same);
    for (long i = 0; i < calls; i++) what();
    never();
    shmemx_var_read(var, &after, 1);
    printf("%s handled %ld lost %ld\n", variable, (long)handled, calls + handled - (long)(after - before));
}

static int deeper(int depth) {
    volatile char room[512];
    room[0] = (char)depth;
    if (depth > 0) return deeper(depth - 1) + room[0];
    shmem_barrier_all();
    shmem_barrier_all();
    return 0;
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    long enough = count > 2 ? atol(arguments[2]) : 300;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    next = (me + 1) % npes;
    shmem_barrier_all();
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("transfers") {
        every(1000, transfers);
        work(enough, 60);
    }
    CASE("checked") {
        every(1000, transfers);
        check(enough, 60);
    }
    CASE("counts") {
        count_calls("shmem_int_p.calls", p_call);
        count_calls("shmem_putmem.calls", put_call);
        count_calls("shmem_int_g.calls", g_call);
        count_calls("shmem_long_atomic_inc.calls", inc_call);
    }
    CASE("markers") {
        every(1000, marker);
        for (double until = now() + 60; handled < enough && now() < until;)
            shmem_pcontrol(SHMEMX_PCONTROL_MARKER, "tock", 1.0);
        never();
    }
    CASE("network") {
        /* Ends when a handler meets a call in the network; a second is long. */
        every(1000, one);
        work(1, 20);
        return 3;
    }
    CASE("barrier") {
        if (me == 0) every(20000, barrier);
        if (me != 0) sleep(10);
        shmem_barrier_all();
        return 3;
    }
    CASE("jump") {
        if (sigsetjmp(back, 1) == 0) {
            every(20000, leave);
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, 4711);
        }
        never();
        if (deeper(me * 3) != me * 3 * (me * 3 + 1) / 2) return 4;
        puts("jumped");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

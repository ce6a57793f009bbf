/* A measurement system that is linked into the executable, as Score-P is by default: it wraps what it uses itself.
 * Between its processes it waits with thousands of g; it sets clocks with p, and it meets in barriers. Some of its
 * routines end in a jump (where optimization makes it one), some go on through a function of their own, some have a
 * frame that is set up oddly. */
#include <pshmem.h>
#include <stdio.h>
#include <string.h>

static int flag;
static long clocks, events;
static volatile char sink;

static __attribute__((noinline)) void wait_for_others(int count) {
    for (int k = 0; k < count; k++) events += pshmem_int_g(&flag, 0);
}

static __attribute__((noinline)) void synchronize(void) {
    pshmem_long_p(&clocks, events, 0);
    pshmem_long_atomic_add(&clocks, 1, 0);
    wait_for_others(10);
}

static __attribute__((noinline)) void forward(void (*routine)(long *, long, int), long *dest, long value, int pe) {
    routine(dest, value, pe);
    events++;
}

void shmem_init(void) {
    pshmem_init();
    pshmem_barrier_all();
    wait_for_others(3000);
}

int shmem_int_g(const int *source, int pe) { return pshmem_int_g(source, pe); }

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    synchronize();
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_long_p(long *dest, long value, int pe) {
    char buffer[pe + 64]; /* the frame's size is not known */
    memset(buffer, (int)value, sizeof buffer);
    sink = buffer[pe];
    forward(pshmem_long_p, dest, value, pe);
}

void shmem_long_atomic_add(long *dest, long value, int pe) {
    events++;
    pshmem_long_atomic_add(dest, value, pe);
}

void shmem_barrier_all(void) {
    wait_for_others(5);
    pshmem_barrier_all();
    synchronize();
}

void shmem_finalize(void) {
    pshmem_barrier_all();
    wait_for_others(100);
    pshmem_finalize();
}

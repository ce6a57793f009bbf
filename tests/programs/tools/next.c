/* An interposer: finds what it forwards to with dlsym. HOW is the handle, WHAT the prefix of names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

static long p_seen, barriers_seen, mallocs_seen;

static void *real(const char *name) {
    void *found = dlsym(HOW, name);
    if (found == NULL) {
        fprintf(stderr, "next: no %s\n", name);
        abort();
    }
    return found;
}

void shmem_long_p(long *dest, long value, int pe) {
    static void (*forward)(long *, long, int);
    if (forward == NULL) forward = (void (*)(long *, long, int))real(WHAT "_long_p");
    p_seen++;
    forward(dest, value, pe);
}

void shmem_barrier_all(void) {
    static void (*forward)(void);
    if (forward == NULL) forward = (void (*)(void))real(WHAT "_barrier_all");
    barriers_seen++;
    forward();
}

void *shmem_malloc(size_t size) {
    /* Names that are no routine's are found as ever. */
    size_t (*length)(const char *) = (size_t (*)(const char *))dlsym(RTLD_DEFAULT, "strlen");
    mallocs_seen += (long)length("x");
    return ((void *(*)(size_t))real(WHAT "_malloc"))(size);
}

void shmem_finalize(void) {
    int me = ((int (*)(void))real(WHAT "_my_pe"))();
    printf("next on %d: p %ld barrier %ld malloc %ld\n", me, p_seen, barriers_seen, mallocs_seen);
    fflush(stdout);
    ((void (*)(void))real(WHAT "_finalize"))();
}

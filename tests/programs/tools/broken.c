/* Tools that cannot be used, one by one. */
#define _GNU_SOURCE
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef LACKS
void there_is_no_such_routine(void);
void shmem_barrier_all(void) { there_is_no_such_routine(); }
#endif
#ifdef NEEDS
extern int there_is_no_such_object;
int *needed = &there_is_no_such_object;
#endif
#ifdef PART
void there_is_no_such_routine(void);
void never(void) { there_is_no_such_routine(); }
void part(void) { printf("barrier seen\n"); }
#endif
#ifdef BRINGS
void part(void);
void shmem_barrier_all(void) {
    part();
    pshmem_barrier_all();
}
#endif
#ifdef CRASHES
__attribute__((constructor)) static void begin(void) {
    static volatile int *volatile nowhere;
    *nowhere = 1;
}
#endif
#ifdef OVERFLOWS
static int deeper(volatile char *at) {
    volatile char more[4096];
    more[0] = *at;
    if (more[0] == 2) return 0;
    return deeper(more) + more[1];
}
__attribute__((constructor)) static void begin(void) {
    volatile char at = 1;
    deeper(&at);
}
#endif
#ifdef ABORTS
__attribute__((constructor)) static void begin(void) { abort(); }
#endif
#ifdef EXITS
__attribute__((constructor)) static void begin(void) { exit(0); }
#endif
#ifdef LEAVES
__attribute__((constructor)) static void begin(void) { _exit(0); }
#endif

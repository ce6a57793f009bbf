/* A tool that writes its name whenever it has a barrier, before and after: the order of tools is seen. Its calls go
 * through pointers, in data that is read-only once the loader is done with it. */
#include <pshmem.h>
#include <stdio.h>

static void (*const forward)(void) = pshmem_barrier_all;

#ifdef IFUNC
/* Which function it is, is decided when the tool is loaded. */
static void barrier(void);
static void (*decide(void))(void) { return barrier; }
void shmem_barrier_all(void) __attribute__((ifunc("decide")));
static void barrier(void) {
#else
void shmem_barrier_all(void) {
#endif
    if (pshmem_my_pe() == 0) {
        printf("<%s>\n", NAME);
        fflush(stdout);
    }
    forward();
    if (pshmem_my_pe() == 0) {
        printf("</%s>\n", NAME);
        fflush(stdout);
    }
}

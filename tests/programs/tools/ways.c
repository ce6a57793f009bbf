/* An application that gets to routines in other ways than by a plain call: through static pointers, by dlsym, from a
 * library that it loads late. A PE makes 4 barriers and 1 shmem_long_p. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>

static void (*volatile barrier)(void) = shmem_barrier_all;
static void (*const table[])(long *, long, int) = {shmem_long_p};
static long word;

int main(int argc, char **argv) {
    shmem_init();
    barrier();
    barrier();
    table[0](&word, 1, 0);
    void (*found)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "shmem_barrier_all");
    if (found == NULL) return 1;
    found();
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    ((void (*)(void))dlsym(library, "plug"))();
    shmem_finalize();
    return 0;
}

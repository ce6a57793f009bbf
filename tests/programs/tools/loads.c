/* A tool that loads a plugin of its own, PLUGIN, and calls it in the program's calls: what that calls is none of
 * these. */
#include <dlfcn.h>
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>

static int (*event)(void);
static long seen, queries;

void shmem_init(void) {
    pshmem_init();
    void *plugin = dlopen(getenv("PLUGIN"), RTLD_NOW);
    event = plugin == NULL ? NULL : (int (*)(void))dlsym(plugin, "event");
    if (event == NULL) {
        fprintf(stderr, "loads: %s\n", dlerror());
        abort();
    }
}

void shmem_long_p(long *dest, long value, int pe) {
    seen += event() > 0;
    pshmem_long_p(dest, value, pe);
}

int shmem_my_pe(void) {
    queries++;
    return pshmem_my_pe();
}

void shmem_finalize(void) {
    printf("loads on %d: p %ld my_pe %ld\n", pshmem_my_pe(), seen, queries);
    fflush(stdout);
    pshmem_finalize();
}

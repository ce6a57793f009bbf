/* plugin LIBRARY: opens a library that initializes OpenSHMEM, communicates by it, closes it, and ends without finalize.
 * With LIBRARY it is that one. */
#ifdef LIBRARY
#include <shmem.h>

int work(void);

int work(void) {
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    long *cell = shmem_calloc(1, sizeof *cell);
    shmem_long_p(cell, me + 1, (me + 1) % pes);
    shmem_barrier_all();
    return *cell == (me + pes - 1) % pes + 1;
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **arguments) {
    if (count != 2) return 2;
    void *object = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    int (*work)(void) = object ? (int (*)(void))dlsym(object, "work") : NULL;
    if (!work) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    int worked = work();
    dlclose(object);
    puts(worked ? "worked" : "wrong");
    return 0;
}
#endif

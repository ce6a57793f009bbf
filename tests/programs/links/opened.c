/* Opens the library at run time, as bindings of other languages do: the heap works, and so do the executable's own
 * static objects. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>

static long fixed;

int main(int count, char **arguments) {
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void (*init)(void) = (void (*)(void))dlsym(library, "shmem_init");
    void (*finalize)(void) = (void (*)(void))dlsym(library, "shmem_finalize");
    void (*barrier)(void) = (void (*)(void))dlsym(library, "shmem_barrier_all");
    int (*my_pe)(void) = (int (*)(void))dlsym(library, "shmem_my_pe");
    int (*n_pes)(void) = (int (*)(void))dlsym(library, "shmem_n_pes");
    void *(*allocate)(size_t) = (void *(*)(size_t))dlsym(library, "shmem_malloc");
    void (*put)(long *, long, int) = (void (*)(long *, long, int))dlsym(library, "shmem_long_p");
    init();
    int me = my_pe(), npes = n_pes();
    long *heap = allocate(64);
    barrier();
    put(heap, me + 1, (me + 1) % npes);
    put(&fixed, me + 1, (me + 1) % npes);
    barrier();
    if (*heap != (me + npes - 1) % npes + 1 || fixed != *heap) return 2;
    if (me == 0) printf("opened\n");
    finalize();
    return 0;
}

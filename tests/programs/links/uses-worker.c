/* Calls the library from a shared object, linked and opened at run time. */
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>

long exchange(long *object, long value);

static long object;

int main(int count, char **arguments) {
    if (count < 2) return 1;
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), before = (me + npes - 1) % npes;
    if (exchange(&object, me + 5) != before + 5) return 2;
    shmem_barrier_all();
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (library == NULL) return 3;
    long (*opened)(long *, long) = (long (*)(long *, long))dlsym(library, "exchange");
    if (opened == NULL || opened(&object, me + 9) != before + 9) return 4;
    shmem_barrier_all();
    if (me == 0) printf("worked\n");
    shmem_finalize();
    return 0;
}

/* unloaded FIRST SECOND: calls from a library that is unloaded, from another one that is loaded at its addresses, and
 * from the first again, each time so many. With LIBRARY it is one of these, with SECOND the other. */
#include <shmem.h>

#ifdef LIBRARY
#ifdef SECOND
#define STEP step_of_b
#define COMPLETE shmem_fence
#else
#define STEP step_of_a
#define COMPLETE shmem_quiet
#endif
static long done;

void STEP(long *cell) {
    shmem_long_p(cell, 1, 0); /* SITE put */
    COMPLETE();               /* SITE complete */
    done++;
}
#else
#include <dlfcn.h>
#include <stdio.h>

static long cell;

static void *call(const char *library, const char *name, int times) {
    void *object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void (*step)(long *) = object ? (void (*)(long *))dlsym(object, name) : NULL;
    if (!step) {
        fprintf(stderr, "%s\n", dlerror());
        return NULL;
    }
    for (int i = 0; i < times; i++) step(&cell);
    dlclose(object);
    return (void *)step;
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    shmem_init();
    void *first = call(arguments[1], "step_of_a", 1000);
    void *second = call(arguments[2], "step_of_b", 300);
    void *again = call(arguments[1], "step_of_a", 500);
    if (shmem_my_pe() == 0) printf("%s\n", first == second && first == again ? "same" : "other");
    shmem_finalize();
    return first && second && again ? 0 : 1;
}
#endif

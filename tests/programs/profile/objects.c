/* Calls from each of the shared objects that are named on the command line, each of which has a function `call_it`. */
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>

static long cell;

int main(int count, char **arguments) {
    shmem_init();
    for (int i = 1; i < count; i++) {
        void *object = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
        void (*call_it)(long *) = object ? (void (*)(long *))dlsym(object, "call_it") : NULL;
        if (!call_it) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        for (int turn = 0; turn < 3; turn++) call_it(&cell);
    }
    shmem_finalize();
    return 0;
}

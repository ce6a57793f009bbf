/* trace_sites TURNS OBJECT [kill]: calls of two sites in turns, and of a shared object in between; then PE 1 is killed.
 */
#include <dlfcn.h>
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef OBJECT
void object_barrier(void) { shmem_barrier_all(); /* SITE object */ }
#else
int main(int count, char **arguments) {
    long turns = count > 2 ? atol(arguments[1]) : 1;
    shmem_init();
    void *object = dlopen(arguments[2], RTLD_NOW);
    void (*object_barrier)(void) = object == NULL ? NULL : (void (*)(void))dlsym(object, "object_barrier");
    if (object_barrier == NULL) return 2;
    for (long turn = 0; turn < turns; turn++) {
        shmem_barrier_all(); /* SITE first */
        shmem_barrier_all(); /* SITE second */
        if (turn % 3 == 0) object_barrier();
    }
    if (count > 3 && shmem_my_pe() == 1) kill(getpid(), SIGKILL);
    shmem_finalize();
    return 0;
}
#endif

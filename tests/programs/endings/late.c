/* The others communicate after finalize, as tools do from exit handlers; PE 0 is gone by then. */
#include <shmem.h>
#include <stdlib.h>

static void late(void) {
    if (shmem_my_pe() != 0) shmem_barrier_all();
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    atexit(late);
    shmem_finalize();
    if (me == 0) _Exit(3);
    return 0;
}

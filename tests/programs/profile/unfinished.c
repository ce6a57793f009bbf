/* PEs other than 1 come to a call that they never return from: "barrier" or "wait". PE 1 ends the job. */
#include <shmem.h>
#include <string.h>
#include <unistd.h>

static long flag;

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "barrier";
    shmem_init();
    for (int k = 0; k < 10; k++) shmem_barrier_all(); /* BEFORE */
    if (shmem_my_pe() == 1) {
        usleep(300000);
        shmem_global_exit(3);
    }
    if (strcmp(what, "wait") == 0) {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1); /* WAIT */
    }
    shmem_barrier_all(); /* BARRIER */
    shmem_finalize();
    return 0;
}

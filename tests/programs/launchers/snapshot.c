/* PE p puts 32 bytes, p + 1 times, has a snapshot written, and says whether these files are there: FILE... Then each is
 * killed. */
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static long there[4], here[4];

int main(int argc, char **argv) {
    shmem_init();
    int me = shmem_my_pe();
    for (int k = 0; k <= me; k++) shmem_long_put(there, here, 4, 0);
    shmem_barrier_all();
    shmem_pcontrol(SHMEMX_PCONTROL_FLUSH);
    for (int i = 1; me == 0 && i < argc; i++)
        printf("%s %s\n", argv[i], access(argv[i], R_OK) == 0 ? "is there" : "is missing");
    fflush(stdout);
    shmem_barrier_all();
    raise(SIGKILL);
    return 0;
}

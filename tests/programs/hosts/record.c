/* Leaves a profile that is known: PE p puts p + 1 times to itself. Where a file is named, its last PE asks for a
 * snapshot and looks whether that is there. Ends without finalization, which would need the other hosts. */
#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

static long there[4], here[4];

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe();
    for (int k = 0; k <= me; k++) shmem_long_put(there, here, 4, me);
    if (count > 1 && me == shmem_n_pes() - 1) {
        shmem_pcontrol(2);
        printf("%s\n", access(arguments[1], R_OK) == 0 ? "kept" : "not kept");
        fflush(stdout);
    }
    _exit(0);
}

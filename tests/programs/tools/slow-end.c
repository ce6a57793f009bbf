/* A tool that writes what it knows after the library's own end, which takes PE 1 longer than PEs may be lost for. */
#include <pshmem.h>
#include <unistd.h>

void shmem_finalize(void) {
    pshmem_finalize();
    if (pshmem_my_pe() == 1) usleep(5800 * 1000);
}

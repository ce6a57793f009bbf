/* Counts its calls in a mapped file too, until it is killed: the file named by the argument has the count of PE 1. */
#include <fcntl.h>
#include <shmem.h>
#include <sys/mman.h>
#include <unistd.h>

static long word;

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    if (count < 2) return 1;
    int file = open(arguments[1], O_RDWR);
    if (file < 0) return 2;
    volatile long *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) return 3;
    shmem_barrier_all();
    if (me == 1) {
        mapped[1] = getpid();
        for (long k = 1;; k++) {
            shmem_long_p(&word, k, (me + 1) % npes);
            mapped[0] = k;
        }
    }
    shmem_barrier_all();
    return 0;
}

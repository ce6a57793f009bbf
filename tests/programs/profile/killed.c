/* PE 1 makes 1000 puts and 500 atomics, then is killed; the others have made 10 puts and wait. */
#include <shmem.h>
#include <signal.h>
#include <unistd.h>

static long word;
static volatile long ready;

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_barrier_all();
    for (int k = 0; k < (me == 1 ? 1000 : 10); k++) shmem_long_p(&word, k, (me + 1) % npes);
    if (me == 1) {
        for (int k = 0; k < 500; k++) shmem_long_atomic_add(&word, k, 0);
        /* The others are in the barrier by then. */
        while (ready < npes - 1) usleep(1000);
        usleep(20000);
        kill(getpid(), SIGKILL);
    } else {
        shmem_long_atomic_inc((long *)&ready, 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

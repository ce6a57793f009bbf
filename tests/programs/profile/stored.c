/* Two call sites whose lines a test knows; PE 1 is killed where that is asked for. */
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>

static long counters[8];

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i < 100; i++)
        shmem_long_atomic_add(&counters[3], 1, 0); /* LINE add */
    shmem_barrier_all(); /* LINE barrier */
    if (argc > 1 && me == shmem_n_pes() - 1)
        raise(SIGKILL);
    shmem_barrier_all();
    (void)argv;
    shmem_finalize();
    return EXIT_SUCCESS;
}

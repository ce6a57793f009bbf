/* Passes a signal round the PEs some times: each wait but the first is released by one put with signal. */
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t sig;
static long data[64];

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    static long source[64];
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    for (int round = 1; round <= rounds; round++) {
        if (me != 0)
            shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, round);
        shmem_long_put_signal(data, source, 64, &sig, round, SHMEM_SIGNAL_SET, next);
        if (me == 0)
            shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, round);
    }
    shmem_finalize();
    return 0;
}

/*
 * Calls that are counted without going to the probe, of every kind: with arguments in registers and on the stack, many
 * and few, on this host and, where the network is between PEs, not.
 */
#include <shmem.h>

static long to[64], from[64];
static unsigned long words[8];
static uint64_t signal_word;

int main(void)
{
    shmem_init();
    int pe = (shmem_my_pe() + 1) % shmem_n_pes();
    long all = 0;
    for (int i = 0; i < 20000; i++)
        all += shmem_n_pes() + shmem_my_pe();
    for (int i = 0; i < 1000; i++) {
        shmem_long_p(to, all, pe);
        all += shmem_long_g(to, pe);
        shmem_long_atomic_add(to, 1, pe);
        all += shmem_long_atomic_fetch_add(to, 1, pe) + (long)shmem_ulong_atomic_fetch_xor(words, 1, pe);
        shmem_long_put(to, from, 4, pe);
        shmem_long_put_signal(to, from, 4, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_long_put_signal_nbi(to, from, 4, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_ctx_long_put_signal(SHMEM_CTX_DEFAULT, to, from, 4, &signal_word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_long_iput(to, from, 2, 2, 4, pe);
        shmem_ctx_long_iput(SHMEM_CTX_DEFAULT, to, from, 2, 2, 4, pe);
        shmem_long_ibput(to, from, 2, 2, 1, 4, pe);
        shmem_long_ibget(from, to, 2, 2, 1, 4, pe);
        shmem_quiet();
    }
    shmem_barrier_all();
    shmem_finalize();
    return all == 42;
}

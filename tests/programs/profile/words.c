/* Where short calls go is known: `words CALLS`. Each PE adds to one counter of PE 0, puts to words all over the heap of
 * the next PE, and reads one flag of the last PE.
 */
#include <shmem.h>
#include <stdlib.h>

#define WORDS (1L << 18)

static long before[3];
static long counters[4];
static long flag;

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 100000, sum = 0;
    shmem_init();
    int me = shmem_my_pe(), pes = shmem_n_pes();
    long *table = shmem_malloc(WORDS * sizeof *table);
    unsigned long random = 88172645463325252ul + me;
    before[0] = flag = 0;
    shmem_barrier_all();
    for (long call = 0; call < calls; call++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        shmem_long_atomic_add(&counters[1], 1, 0);
        shmem_long_p(&table[random % WORDS], call, (me + 1) % pes);
        sum += shmem_long_g(&flag, pes - 1);
    }
    shmem_barrier_all();
    shmem_free(table);
    shmem_finalize();
    return sum != 0;
}

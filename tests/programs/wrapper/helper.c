#include <shmem.h>

int helper(int x);

int helper(int x) { return x + 10 * shmem_n_pes(); }

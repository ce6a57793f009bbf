/* What loads.c loads. */
#include <shmem.h>

int event(void);
int event(void) { return shmem_my_pe() + shmem_n_pes(); }

/* Start, say nothing, end: the driver times the whole job. */
#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}

/* PE 1 ends a region that it has not begun. */
#include <shmem.h>
#include <shmemx.h>

int main(void)
{
    shmem_init();
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "step");
    shmem_barrier_all();
    if (shmem_my_pe() == 1)
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "other"); /* LINE wrong */
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "step");
    shmem_finalize();
    return 0;
}

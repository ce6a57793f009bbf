/* The profile is off in parts of the run: regions that begin or end there, and barriers that PE 0 does not record. */
#include <shmem.h>
#include <shmemx.h>

static long word;

static void calls(int count)
{
    for (int k = 0; k < count; k++)
        shmem_long_p(&word, k, 0);
}

int main(void)
{
    shmem_init();
    for (int round = 0; round < 100; round++) {
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "outer");
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "io");
        calls(1);
        shmem_pcontrol(0);
        calls(1);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "io");
        shmem_pcontrol(1);
        calls(2);
        shmem_pcontrol(0);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "later");
        shmem_pcontrol(1);
        calls(4);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "later");
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "outer");
    }
    if (shmem_my_pe() == 0)
        shmem_pcontrol(0);
    for (int k = 0; k < 3; k++)
        shmem_barrier_all();
    shmem_pcontrol(1);
    for (int k = 0; k < 20; k++)
        shmem_barrier_all();
    shmem_finalize();
    return 0;
}

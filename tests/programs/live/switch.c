/* Switches its trace on for a while: 300 puts, then 5000 in a region while it is on, then 700, then 3 more while it is
 * on. */
#include <shmem.h>
#include <shmemx.h>

static long word;

static void puts_of(int count)
{
    for (int k = 0; k < count; k++)
        shmem_long_p(&word, k, shmem_my_pe());
}

int main(void)
{
    shmem_init();
    puts_of(300);
    shmem_pcontrol(SHMEMX_PCONTROL_TRACE_ON);
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "seen");
    puts_of(5000);
    shmem_barrier_all();
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "seen");
    shmem_pcontrol(SHMEMX_PCONTROL_TRACE_OFF);
    puts_of(700);
    shmem_barrier_all();
    shmem_pcontrol(SHMEMX_PCONTROL_TRACE_ON);
    puts_of(3);
    shmem_finalize();
    return 0;
}

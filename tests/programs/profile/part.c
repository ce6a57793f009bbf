/* The profile is off for half a second in the middle of the run. */
#include <shmem.h>
#include <unistd.h>

static void meet(int times, int us)
{
    for (int k = 0; k < times; k++) {
        usleep(us);
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    meet(10, 0);
    shmem_pcontrol(0);
    meet(10, 50000);
    shmem_pcontrol(1);
    meet(10, 0);
    shmem_finalize();
    return 0;
}

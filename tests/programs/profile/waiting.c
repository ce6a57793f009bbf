/* PE 0 comes 300 ms late to a barrier and to a flag: the others' time is waiting time. */
#include <shmem.h>
#include <unistd.h>

static long flag;

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_barrier_all();
    if (me == 0) usleep(300000);
    shmem_barrier_all();
    if (me == 0) {
        usleep(300000);
        for (int pe = 0; pe < npes; pe++) shmem_long_p(&flag, 1, pe);
    }
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

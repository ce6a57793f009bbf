/* As the first programs did: start_pes, and no end. PE 0 comes late to it. */
#include <shmem.h>
#include <unistd.h>

int main(void) {
#ifdef INIT
    shmem_init();
#else
    start_pes(0);
#endif
    shmem_barrier_all();
    if (shmem_my_pe() == 0) usleep(300000);
    return 0;
}

/* Switches the profile off and on. */
#include <shmem.h>

static long word;

int main(void) {
    shmem_init();
    int me = shmem_my_pe();
    for (int k = 0; k < 100; k++) shmem_long_p(&word, k, me);
    shmem_pcontrol(0);
    for (int k = 0; k < 1000; k++) shmem_long_p(&word, k, me);
    for (int k = 0; k < 10; k++) shmem_quiet();
    shmem_pcontrol(1);
    for (int k = 0; k < 7; k++) shmem_long_p(&word, k, me);
    shmem_pcontrol(2);
    for (int k = 0; k < 3; k++) shmem_long_p(&word, k, me);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* PE 1 takes memory until the kernel ends it; the others wait for it. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        for (;;) {
            char *more = malloc(1 << 20);
            if (more == NULL) return 3;
            memset(more, 1, 1 << 20);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

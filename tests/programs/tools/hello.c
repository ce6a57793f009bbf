/* Says when its own code runs: before main, and in it. */
#include <shmem.h>
#include <stdio.h>

__attribute__((constructor)) static void begin(void) { puts("user code runs"); }

int main(void) {
    shmem_init();
    shmem_barrier_all();
    printf("hello from %d\n", shmem_my_pe());
    shmem_finalize();
    return 0;
}

#include <shmem.h>
#include <stdio.h>

int helper(int x);

int main(void) {
    shmem_init();
    printf("%d\n", helper(shmem_my_pe()));
    shmem_finalize();
    return 0;
}

/* Says which PE it is a second after it has begun, and ends with the status that is asked for. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    shmem_init();
    struct timespec second = {1, 0};
    nanosleep(&second, NULL);
    shmem_barrier_all();
    printf("PE %d is through\n", shmem_my_pe());
    fflush(stdout);
    shmem_finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}

/* PE 1 calls a function where no code is: a null pointer, or one to what is named. */
#include <shmem.h>
#include <string.h>

static void (*function)(int);
static long data;

int main(int count, char **arguments) {
    shmem_init();
    if (count > 1 && strcmp(arguments[1], "data") == 0) function = (void (*)(int))(void *)&data;
    if (count > 1 && strcmp(arguments[1], "unmapped") == 0) function = (void (*)(int))0x1000;
    if (shmem_my_pe() == 1) function(count); /* call */
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

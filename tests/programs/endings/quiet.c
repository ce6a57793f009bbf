/* PE 1 makes a mistake when its standard error takes nothing any more: it is closed, or what the argument names is in
 * its place. */
#include <fcntl.h>
#include <shmem.h>
#include <unistd.h>

static long word;

int main(int count, char **arguments) {
    shmem_init();
    close(2);
    if (count > 1) open(arguments[1], O_WRONLY);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) shmem_long_put(&word, &word, 1, 77);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

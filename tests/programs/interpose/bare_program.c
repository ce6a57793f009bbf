/* What bare.c sees. */
#include <shmem.h>

static long word;

int main(void) {
    shmem_init();
    for (int i = 0; i < 100; i++) shmem_putmem(&word, &word, 8, 0); /* LINE put */
    shmem_finalize();
    return 0;
}

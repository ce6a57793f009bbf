/* PE 1 has no room left on its stack: by calls without end, or, with "array", by an object that is larger than it. */
#include <shmem.h>
#include <string.h>

static volatile int kept;

__attribute__((noinline)) static int deeper(int depth) {
    volatile char block[4096];
    block[depth % 4096] = (char)depth;
    return deeper(depth + 1) + block[0]; /* calls */
}

__attribute__((noinline)) static int large(void) {
    volatile char array[64 << 20];
    array[kept] = 1; /* array */
    return array[kept + 4096];
}

int main(int count, char **arguments) {
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 1) kept = count > 1 && strcmp(arguments[1], "array") == 0 ? large() : deeper(0);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* Each routine has a function of its own, as in a layer over the library, and `work` calls all of them. */
#include <shmem.h>

static long data[64], value;

#define LAYER(NAME, CALL)                                                    \
    __attribute__((noinline)) static void NAME(void) {                       \
        CALL;                                                                \
        __asm__ volatile(""); /* Not the last of it: a jump leaves no trace. */ \
    }

LAYER(layer_init, shmem_init())
LAYER(layer_put, shmem_long_put(data, data + 32, 8, 0))
LAYER(layer_get, shmem_long_get(data, data + 32, 8, 0))
LAYER(layer_p, shmem_long_p(data, 1, 0))
LAYER(layer_g, value = shmem_long_g(data, 0))
LAYER(layer_add, shmem_long_atomic_add(data, 1, 0))
LAYER(layer_fetch, value = shmem_long_atomic_fetch(data, 0))
LAYER(layer_quiet, shmem_quiet())
LAYER(layer_fence, shmem_fence())
LAYER(layer_barrier, shmem_barrier_all())
LAYER(layer_finalize, shmem_finalize())

__attribute__((noinline)) static void work(void) {
    layer_put();
    layer_get();
    layer_p();
    layer_g();
    layer_add();
    layer_fetch();
    layer_quiet();
    layer_fence();
    layer_barrier();
    __asm__ volatile("");
}

int main(void) {
    layer_init();
    for (int turn = 0; turn < 1000; turn++) work();
    layer_finalize();
    return 0;
}

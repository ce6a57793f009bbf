// A call site in a method, and an object in a namespace.
#include <shmem.h>

namespace halo {
long counters[64];

struct Grid {
    void exchange(int with) __attribute__((noinline));
};

void Grid::exchange(int with) {
    for (int i = 0; i < 1000; ++i) shmem_long_atomic_add(&counters[0], 1, with);
}
}  // namespace halo

int main() {
    shmem_init();
    halo::Grid grid;
    grid.exchange((shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    shmem_finalize();
}

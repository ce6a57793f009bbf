// A wrong PE, from a function in a namespace that is called as a library of Rust's is, or by an overload: names WAY.
#include <cstring>
#include <shmem.h>

static long word, other;

namespace core {
struct Solver {
    int steps = 0;
    __attribute__((noinline)) void step(int pe)
    {
        shmem_long_p(&word, 1, pe); // namespace
        steps++;
    }
};
}

int main(int, char **words)
{
    shmem_init();
    core::Solver solver;
    shmem_barrier_all();
    for (int i = 0; i < 100; i++)
        shmem_put(&word, &other, 1, 0); // overload
    if (strcmp(words[1], "namespace") == 0)
        solver.step(99);
    if (strcmp(words[1], "overload") == 0)
        shmem_p(&word, 1L, 99); // wrong overload
    shmem_finalize();
    return solver.steps;
}

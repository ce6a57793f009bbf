// C++: objects with constructors are symmetric like others, namespaces and templates do not matter, exceptions pass.
#include <shmem.h>

#include <cstdio>
#include <complex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
struct Counter {
    long value;
    explicit Counter(long start) : value(start) {}
};
Counter counter(40);
long words[4];
std::vector<std::string> names = {"kept", "over", "init"};

template <typename T> T neighbour(T *object, T value);
template <> long neighbour(long *object, long value) {
    shmem_long_p(object, value, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    return *object;
}
} // namespace

static shmem_ctx_t context = SHMEM_CTX_DEFAULT;
static std::complex<double> source, dest;

int main() {
    shmem_init();
    const int me = shmem_my_pe(), npes = shmem_n_pes(), before = (me + npes - 1) % npes;
    if (counter.value != 40 || names[2] != "init") return 1;
    shmem_barrier_all();
    if (neighbour(&counter.value, 7L + me) != 7 + before) return 2;
    try {
        throw std::runtime_error("passes");
    } catch (const std::exception &error) {
        if (std::string(error.what()) != "passes") return 3;
    }
    shmem_ctx_long_p(context, &words[1], 3, me);
    shmem_quiet();
    if (words[1] != 3) return 4;
    source = std::complex<double>(me, 1);
    shmem_barrier_all();
    if (shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1) != 0) return 5;
    if (dest != std::complex<double>(npes * (npes - 1) / 2, npes)) return 6;
    auto *heap = static_cast<long *>(shmem_malloc(8));
    if (heap == nullptr) return 7;
    shmem_free(heap);
    names.push_back("and grows");
    if (me == 0) std::printf("constructed and symmetric\n");
    shmem_finalize();
    return names.size() == 4 ? 0 : 8;
}

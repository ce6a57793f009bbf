// The complex numbers of C in C++, as an extension of the compiler, beside std::complex.
#include <complex>
#include <shmem.h>

__extension__ typedef __complex__ double own_double;
__extension__ typedef __complex__ float own_float;

static own_double source[4], dest[4], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static own_float few[2], sums[2];
static std::complex<double> standard[2], result[2];
static long sync_words[SHMEM_REDUCE_SYNC_SIZE];

int main() {
    shmem_init();
    int npes = shmem_n_pes(), wrong = 0;
    for (int i = 0; i < 4; i++) {
        __real__ source[i] = 1;
        __imag__ source[i] = i;
    }
    shmem_complexd_sum_to_all(dest, source, 4, 0, 0, npes, work, sync_words);
    for (int i = 0; i < 4; i++) wrong += __real__ dest[i] != npes || __imag__ dest[i] != i * npes;
    for (int i = 0; i < 2; i++) __imag__ few[i] = 2;
    wrong += shmem_complexf_sum_reduce(SHMEM_TEAM_WORLD, sums, few, 2);
    wrong += __imag__ sums[1] != 2 * npes;
    standard[1] = std::complex<double>(0, 1);
    wrong += shmem_complexd_sum_reduce(SHMEM_TEAM_WORLD, result, standard, 2);
    wrong += result[1] != std::complex<double>(0, npes);
    shmem_finalize();
    return wrong;
}

/* PEs that sleep: PE 0 before each barrier, or the others between two tests of the flag that PE 0 sets late. */
#include <shmem.h>
#include <string.h>
#include <unistd.h>

static uint64_t flag;

int main(int count, char **args) {
    shmem_init();
    int me = shmem_my_pe(), tests = count > 1 && strcmp(args[1], "tests") == 0;
    for (uint64_t turn = 1; turn <= 20; turn++) {
        if (me == 0) usleep(20000);
        if (!tests) {
            shmem_barrier_all();
        } else if (me == 0) {
            for (int pe = 1; pe < shmem_n_pes(); pe++) shmem_uint64_p(&flag, turn, pe);
        } else {
            while (!shmem_uint64_test(&flag, SHMEM_CMP_GE, turn)) usleep(100);
        }
    }
    shmem_finalize();
    return 0;
}

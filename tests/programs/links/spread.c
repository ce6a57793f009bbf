/* Static objects that linkers put far from each other: one of them is aligned to 2 MiB, and with -mcmodel=medium
   constants of many bytes lie between them. Each PE writes to those of the next one, and reads its constants. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY (1 << 17)

static long counter = 5;
static long zero;
static double large[MANY];
static double large_data[MANY] = {1};
static _Alignas(2 << 20) double aligned[MANY];
const double constants[MANY] = {1, 2, 3};

static int check(int is_right, const char *what) {
    if (!is_right) fprintf(stderr, "PE %d: wrong: %s\n", shmem_my_pe(), what);
    return !is_right;
}

/* Another process has copies of its own. */
static int in_child(void) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        counter = 1, large[0] = 9, aligned[0] = 9, large_data[0] = constants[1];
        _exit(constants[2] == 3 && counter == 1 && large_data[0] == 2 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return check(status == 0 && large[0] == 0 && aligned[0] == 0 && large_data[0] == 1, "what a child stores");
}

int main(void) {
    double some[1000];
    int wrong = 0;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    shmem_double_get(some, constants, 1000, next);
    wrong += check(memcmp(some, constants, sizeof some) == 0 && some[2] == 3, "constants");
    shmem_long_p(&counter, 42 + me, next);
    shmem_long_p(&zero, 7 + me, next);
    shmem_double_p(&large[MANY - 1], me + 0.5, next);
    shmem_double_p(&large_data[MANY - 1], me + 0.25, next);
    shmem_double_p(&aligned[MANY - 1], me + 0.75, next);
    shmem_barrier_all();
    wrong += check(counter == 42 + before && zero == 7 + before, "small objects");
    wrong += check(large[MANY - 1] == before + 0.5 && large_data[MANY - 1] == before + 0.25, "large objects");
    wrong += check(aligned[MANY - 1] == before + 0.75, "an aligned object");
    wrong += in_child();
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, large, constants, 1000);
    wrong += check(large[2] == 3 * n, "a sum of constants");
    shmem_finalize();
    return wrong;
}

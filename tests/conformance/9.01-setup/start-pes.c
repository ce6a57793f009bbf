/* 9.1.13: start_pes ignores its argument and repeats, and finalizes at exit, collectively: a PE that has left main is
 * still there while another one works.
 * pes: 1 2 3 4
 * expect: seen
 * needs: start_pes shmem_long_p shmem_long_wait_until
 */
#include "check.h"

static long word, process;

/* Whether a process runs: one that has ended is a zombie until it is waited for. */
static bool runs(long pid) {
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    bool read = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    fclose(file);
    return read && state != 'Z';
}

int main(void) {
    start_pes(100000);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECKF(npes < 1000, "start_pes must ignore its argument: %d PEs", npes);
    start_pes(0);
    start_pes(-5);
    CHECK(shmem_my_pe() == me && shmem_n_pes() == npes);
    process = getpid();
    shmem_barrier_all();
    shmem_long_p(&word, 7, (me + 1) % npes);
    if (me == 0) {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 7);
        printf("seen\n");
    }
    if (me == npes - 1 && npes > 1) {
        /* Long enough for PE 0 to have left main. */
        usleep(150000);
        CHECK(runs(shmem_long_g(&process, 0)));
    }
    return 0;
}

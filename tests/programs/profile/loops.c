/* A loop with a number of barriers a turn, each on a line of its own: loops BARRIERS TURNS [WORK]. PE k comes late to
 * barrier k.
   WORK: before that barrier each PE works for 20 us, and PE 0 for as long again. */
#include <shmem.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void work(double seconds) {
    for (double end = now() + seconds; now() < end;) {
    }
}

static int barriers, me, npes, busy;

/* Whether barrier k is part of the loop; who is late to it works before. */
static int begin(int k) {
    if (k >= barriers) return 0;
    if (k % npes == me) work(2e-6);
    if (k == busy) work(me == 0 ? 40e-6 : 20e-6);
    return 1;
}

int main(int argc, char **argv) {
    shmem_init();
    me = shmem_my_pe(), npes = shmem_n_pes();
    barriers = argc > 1 ? atoi(argv[1]) : 4;
    int turns = argc > 2 ? atoi(argv[2]) : 10;
    busy = argc > 3 ? atoi(argv[3]) : -1;
    for (int turn = 0; turn < turns; turn++) {
        if (begin(0)) shmem_barrier_all(); /* BARRIER 0 */
        if (begin(1)) shmem_barrier_all(); /* BARRIER 1 */
        if (begin(2)) shmem_barrier_all(); /* BARRIER 2 */
        if (begin(3)) shmem_barrier_all(); /* BARRIER 3 */
        if (begin(4)) shmem_barrier_all(); /* BARRIER 4 */
        if (begin(5)) shmem_barrier_all(); /* BARRIER 5 */
        if (begin(6)) shmem_barrier_all(); /* BARRIER 6 */
        if (begin(7)) shmem_barrier_all(); /* BARRIER 7 */
    }
    shmem_finalize();
    return 0;
}

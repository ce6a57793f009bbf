/* Uses the network while others try to get in, and looks at all symmetric memory each time round: strangers FILE. Ends
 * when FILE is there. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 4096 };
static uint64_t global[WORDS];

static uint64_t expected(int pe, int i) { return ((uint64_t)(pe + 1) << 48) ^ (uint64_t)i * 0x9e3779b97f4a7c15u; }

static void compare(const char *what, const uint64_t *words, int pe) {
    for (int i = 0; i < WORDS; i++)
        if (words[i] != expected(pe, i)) {
            printf("PE %d: word %d of the %s is %lx\n", pe, i, what, (unsigned long)words[i]);
            shmem_global_exit(3);
        }
}

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    /* The first object of the heap, where a stranger looks for something. */
    uint64_t *heap = shmem_malloc(WORDS * sizeof *heap), *copy = malloc(WORDS * sizeof *copy);
    uint64_t *rounds = shmem_calloc(1, sizeof *rounds), *end = shmem_calloc(1, sizeof *end),
        *flag = shmem_calloc(1, sizeof *flag);
    for (int i = 0; i < WORDS; i++) global[i] = heap[i] = expected(me, i);
    shmem_barrier_all();
    if (me == 0) { printf("ready\n"); fflush(stdout); }
    for (uint64_t round = 1;; round++) {
        compare("heap", heap, me);
        compare("static data", global, me);
        shmem_uint64_get(copy, heap, WORDS, next);
        compare("heap over the network", copy, next);
        shmem_uint64_atomic_inc(rounds, next);
        if (me == 0 && count > 1 && access(arguments[1], F_OK) == 0) *end = 1;
        shmem_uint64_broadcast(SHMEM_TEAM_WORLD, flag, end, 1, 0);
        shmem_barrier_all();
        /* Who is ahead may be in the next round. */
        if (*rounds != round && *rounds != round + 1) {
            printf("PE %d: %lu of %lu rounds\n", me, (unsigned long)*rounds, (unsigned long)round);
            return 4;
        }
        if (*flag) break;
        usleep(2000);
    }
    printf("PE %d: unchanged\n", me);
    shmem_finalize();
    return 0;
}

/* A tool as Score-P is one: measures from init on, leaves the library open when the program finalizes, and evaluates
 * with collectives of its own in an exit handler: on active sets, and broadcasts in place. Calls of its own are of
 * routines that it wraps, too. */
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long *barrier_work, *collect_work, *broadcast_work;
static long puts_seen, barriers_seen, finalizes_seen;
static int me, npes, measuring;

static long *work(int size) {
    long *words = pshmalloc((size_t)size * sizeof(long));
    for (int k = 0; k < size; k++) words[k] = _SHMEM_SYNC_VALUE;
    return words;
}

static void evaluate(void) {
    measuring = 0;
    pshmem_barrier_all();
    long *mine = pshmalloc(sizeof(long)), *all = pshmalloc((size_t)npes * sizeof(long)), sum = 0;
    *mine = puts_seen;
    pshmem_barrier(0, 0, npes, barrier_work);
    pshmem_collect64(all, mine, 1, 0, 0, npes, collect_work);
    for (int pe = 0; pe < npes; pe++) sum += all[pe];
    if (me == npes - 1) *mine = 4711;
    pshmem_barrier(0, 0, npes, barrier_work);
    pshmem_broadcast64(mine, mine, 1, npes - 1, 0, 0, npes, broadcast_work);
    pshmem_barrier_all();
    printf("measure on %d: puts %ld barriers %ld finalizes %ld of all %ld %s\n", me, puts_seen, barriers_seen,
           finalizes_seen, sum, *mine == 4711 ? "agreed" : "not agreed");
    fflush(stdout);
    pshmem_barrier_all();
    pshfree(all);
    pshfree(mine);
    pshfree(broadcast_work);
    pshfree(collect_work);
    pshfree(barrier_work);
    pshmem_finalize();
}

static void begin(void) {
    me = pshmem_my_pe();
    npes = pshmem_n_pes();
    barrier_work = work(_SHMEM_BARRIER_SYNC_SIZE);
    collect_work = work(_SHMEM_COLLECT_SYNC_SIZE);
    broadcast_work = work(_SHMEM_BCAST_SYNC_SIZE);
    pshmem_barrier_all();
    measuring = 1;
}

static void end(void) {
    static int done;
    if (!done++) atexit(evaluate);
}

void shmem_init(void) {
    pshmem_init();
    begin();
}

void start_pes(int count) {
    pstart_pes(count);
    begin();
    end();
}

void shmem_finalize(void) {
    finalizes_seen += measuring;
    pshmem_barrier_all();
    end();
}

void shmem_barrier_all(void) {
    barriers_seen += measuring;
    pshmem_barrier_all();
}

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    puts_seen += measuring;
    pshmem_long_put(dest, source, nelems, pe);
}

/* Collectives that rank 0 has begun go on while it waits in calls of OpenSHMEM, which end once the others have come out
 * of them. With the argument "finalize" the last of these calls is shmem_finalize. */
#include "job.h"
#include <gasnet.h>
#include <gasnet_coll.h>
#include <shmem.h>

#define ROUNDS 3
/* More than the queue of a peer holds. */
#define BYTES (1 << 20)

static long flag, lock, target, source;
static char data[BYTES];

/* What rank 0 waits in while the others wait for `event`. */
static void in_barrier(gex_Event_t event)
{
    if (me == 0)
        shmem_barrier_all();
    gex_Event_Wait(event);
    if (me != 0)
        shmem_barrier_all();
}

static void in_wait_until(gex_Event_t event)
{
    if (me == 0)
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, (long)size - 1);
    gex_Event_Wait(event);
    if (me != 0)
        shmem_long_atomic_inc(&flag, 0);
    else
        flag = 0;
    shmem_barrier_all();
}

static void in_reduction(gex_Event_t event)
{
    source = 1;
    if (me == 0)
        CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &target, &source, 1) == 0);
    gex_Event_Wait(event);
    if (me != 0)
        CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &target, &source, 1) == 0);
    CHECK(target == (long)size);
}

/* The last rank has the lock until it has come out of the collective. */
static void in_lock(gex_Event_t event)
{
    if (me == 0)
        shmem_set_lock(&lock);
    gex_Event_Wait(event);
    if (me == 0 || me == size - 1)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
}

static void (*const waits[])(gex_Event_t) = {in_barrier, in_wait_until, in_reduction, in_lock};
#define WAITS (sizeof waits / sizeof *waits)

/* The lock is taken before the collective begins. */
static void prepare(size_t wait)
{
    if (waits[wait] == in_lock && size > 1 && me == size - 1)
        shmem_set_lock(&lock);
    shmem_barrier_all();
}

static void add(const void *left, void *right, size_t count, const void *nothing)
{
    (void)nothing;
    for (size_t i = 0; i < count; i++)
        ((long *)right)[i] += ((const long *)left)[i];
}

static void round_of(size_t wait, int round)
{
    long mine[2] = {me, round}, sum[2];
    gex_Rank_t root = size > 2 ? size - 2 : 0;
    prepare(wait);
    waits[wait](gex_Coll_BarrierNB(world, 0));
    prepare(wait);
    waits[wait](gex_Coll_ReduceToAllNB(world, sum, mine, GEX_DT_USER, sizeof *mine, 2, GEX_OP_USER, add, NULL, 0));
    CHECK(sum[0] == (long)size * (size - 1) / 2 && sum[1] == (long)size * round);
    memset(data, me == root ? round + 1 : 0, BYTES);
    prepare(wait);
    waits[wait](gex_Coll_BroadcastNB(world, root, data, data, BYTES, 0));
    CHECK(data[0] == round + 1 && data[BYTES - 1] == round + 1);
}

/* The same with the barriers of GASNet-1, which have no event. */
static void old_barrier(void)
{
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    if (me == 0)
        shmem_barrier_all();
    CHECK(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK);
    if (me != 0)
        shmem_barrier_all();
}

int main(int argc, char **argv)
{
    CHECK(gex_Client_Init(&client, &endpoint, &world, "WAITS", &argc, &argv, GEX_FLAG_USES_GASNET1) == GASNET_OK);
    me = gex_TM_QueryRank(world);
    size = gex_TM_QuerySize(world);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t wait = 0; wait < WAITS; wait++)
            round_of(wait, round);
        old_barrier();
    }
    if (argc < 2 || strcmp(argv[1], "finalize") != 0)
        return finish();
    gex_Event_t event = gex_Coll_BarrierNB(world, 0);
    if (me != 0)
        gex_Event_Wait(event);
    printf("rank %u: all is well\n", (unsigned)me);
    fflush(stdout);
    shmem_finalize();
    return 0;
}

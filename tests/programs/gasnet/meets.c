/* A PE that waits for PE 1, which sleeps: in the call that the first argument names. Before a transfer from or to its
 * memory, PE 0 asks PE 2 for something, which sleeps then, too. */
#define _DEFAULT_SOURCE
#include "job.h"
#include <gasnet_coll.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define AT_ONCE (GASNET_COLL_LOCAL | GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC)

static const char *how;
static int all[3];

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

static void nothing(gex_Token_t token)
{
    (void)token;
}

static void sleeps(void)
{
    for (;;)
        sleep(1);
}

/* An endpoint whose segment is memory of the client's own: its owner has to look, that others can put there. */
static gex_EP_t own_memory(char *memory)
{
    gex_EP_t made;
    gex_Segment_t bound;
    CHECK(gex_EP_Create(&made, client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    CHECK(gex_Segment_Create(&bound, client, memory, BYTES, GEX_MK_HOST, 0) == GASNET_OK);
    CHECK(gex_EP_BindSegment(made, bound, 0) == GASNET_OK);
    return made;
}

static void transfer(char *memory, gex_EP_t made)
{
    gex_TM_t pair = gex_TM_Pair(made, 1);
    volatile char *mine = segment_of(me);
    char *theirs[] = {segment_of(1), segment_of(2)};
    void *there;
    uintptr_t bytes;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, 1, &there, NULL, &bytes, 0));
    barrier();
    if (me != 0) {
        /* From here on it looks for no message. */
        *mine = 1;
        sleeps();
    }
    for (gex_Rank_t rank = 1; rank <= 2; rank++)
        while (gex_RMA_GetBlockingVal(world, rank, theirs[rank - 1], 1, 0) == 0)
            ;
    gex_AM_RequestShort(world, 2, 201, 0);
    if (is("put"))
        gex_RMA_PutBlocking(pair, 1, there, memory, 1000, 0);
    gex_RMA_GetBlocking(pair, memory, 1, there, 1000, 0);
}

static void in_collective(gex_EP_t made)
{
    if (me == 1)
        sleeps();
    if (is("publish"))
        gex_EP_PublishBoundSegment(world, &made, 1, 0);
    if (is("events")) {
        gex_Event_t events[2] = {gex_Coll_BarrierNB(world, 0), GEX_EVENT_INVALID};
        gex_Event_WaitAll(events, 2, 0);
    }
    if (is("gather"))
        gasnet_coll_gather_all(world, all, &me, sizeof me, AT_ONCE);
    if (is("named")) {
        gasnet_coll_barrier_notify(world, 0, GASNET_BARRIERFLAG_ANONYMOUS);
        gasnet_coll_barrier_wait(world, 0, GASNET_BARRIERFLAG_ANONYMOUS);
    }
    gex_TM_t team;
    if (is("split"))
        gex_TM_Split(&team, world, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    if (is("create")) {
        static char scratch[4096];
        void *places[] = {scratch};
        gex_EP_Location_t members[] = {{0, 0}, {1, 0}, {2, 0}};
        gex_TM_Create(&team, 1, world, members, 3, places, sizeof scratch, GEX_FLAG_TM_LOCAL_SCRATCH);
    }
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {201, (gex_AM_Fn_t)nothing, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "nothing"}};
    how = argv[1];
    begin(argc, argv, table, 1, is("attach") ? 0 : 1);
    CHECK(size == 3);
    if (is("attach") && me == 1)
        sleeps();
    if (is("attach"))
        gex_Segment_Attach(&segment, world, GASNET_PAGESIZE);
    char *memory = aligned_alloc(GASNET_PAGESIZE, BYTES);
    gex_EP_t made = own_memory(memory);
    if (is("publish"))
        in_collective(made);
    gex_EP_PublishBoundSegment(world, &made, 1, 0);
    if (is("put") || is("get"))
        transfer(memory, made);
    in_collective(made);
    return finish();
}

/* Puts and gets of all forms; events, access regions; segments of different sizes; further endpoints and pairs. */
#include "job.h"

static unsigned char byte(gex_Rank_t seed, size_t i)
{
    return (unsigned char)(seed * 131u + i * 7u);
}

static unsigned char out[300000], in[300000];

static void fill(size_t bytes, gex_Rank_t seed)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        out[i] = byte(seed, i);
    memset(in, 0, bytes);
}

static void compare(size_t bytes, gex_Rank_t seed)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        CHECK(in[i] == byte(seed, i));
}

/* Each rank has a part of each segment to itself. */
static void transfers(gex_TM_t tm, gex_Rank_t rank, char *at, size_t bytes)
{
    gex_Event_t events[3], leaf, region;
    fill(bytes, me);
    CHECK(gex_RMA_PutBlocking(tm, rank, at, out, bytes, 0) == 0);
    CHECK(gex_RMA_GetBlocking(tm, in, rank, at, bytes, 0) == 0);
    compare(bytes, me);
    fill(bytes, me + 1);
    events[0] = gex_RMA_PutNB(tm, rank, at, out, bytes, &leaf, 0);
    events[1] = leaf;
    gex_Event_WaitAll(events, 2, 0);
    CHECK(events[0] == GEX_EVENT_INVALID && events[1] == GEX_EVENT_INVALID);
    events[0] = gex_RMA_GetNB(tm, in, rank, at, bytes, 0);
    while (gex_Event_Test(events[0]) != GASNET_OK)
        gasnet_AMPoll();
    compare(bytes, me + 1);
    fill(bytes, me + 2);
    events[0] = gex_RMA_PutNB(tm, rank, at, out, bytes, GEX_EVENT_NOW, 0);
    memset(out, 0, bytes);
    gex_Event_Wait(events[0]);
    CHECK(gex_RMA_GetNBI(tm, in, rank, at, bytes, 0) == 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    compare(bytes, me + 2);
    fill(bytes, me + 3);
    CHECK(gex_RMA_PutNBI(tm, rank, at, out, bytes, GEX_EVENT_GROUP, 0) == 0);
    gex_NBI_Wait(GEX_EC_LC, 0);
    memset(out, 0, bytes);
    while (gex_NBI_Test(GEX_EC_ALL, 0) != GASNET_OK)
        gasnet_AMPoll();
    gex_NBI_BeginAccessRegion(0);
    CHECK(gex_RMA_GetNBI(tm, in, rank, at, bytes, 0) == 0);
    region = gex_NBI_EndAccessRegion(0);
    leaf = gex_Event_QueryLeaf(region, GEX_EC_GET);
    events[0] = leaf;
    events[1] = region;
    events[2] = GEX_EVENT_INVALID;
    gex_Event_WaitSome(events, 3, 0);
    gex_Event_WaitAll(events, 3, 0);
    compare(bytes, me + 3);
}

static void values(gex_Rank_t rank, char *at)
{
    size_t bytes;
    for (bytes = 1; bytes <= 8; bytes++) {
        gex_RMA_Value_t value = (gex_RMA_Value_t)0x8192a3b4c5d6e7f8u + me;
        gex_RMA_Value_t low = bytes < 8 ? value & ((((gex_RMA_Value_t)1) << 8 * bytes) - 1) : value;
        CHECK(gex_RMA_PutBlockingVal(world, rank, at, value, bytes, 0) == 0);
        CHECK(gex_RMA_GetBlockingVal(world, rank, at, bytes, 0) == low);
        gex_Event_Wait(gex_RMA_PutNBVal(world, rank, at, ~value, bytes, 0));
        CHECK(gex_RMA_GetBlockingVal(world, rank, at, bytes, 0) != low);
        CHECK(gex_RMA_PutNBIVal(world, rank, at, value, bytes, 0) == 0);
        gex_NBI_Wait(GEX_EC_PUT, 0);
        CHECK(gex_RMA_GetBlockingVal(world, rank, at, bytes, 0) == low);
    }
}

/* An endpoint with memory of the program's own, and one with memory of the library's. */
static void endpoints(void)
{
    static char own[200000];
    gex_EP_t eps[2];
    gex_Segment_t segments[2], none;
    gex_Rank_t peer = (me + 1) % size;
    int i;
    CHECK(gex_EP_Create(&eps[0], client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    CHECK(gex_EP_Create(&eps[1], client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
    CHECK(gex_EP_QueryIndex(eps[0]) == 1 && gex_EP_QueryIndex(eps[1]) == 2);
    CHECK(gex_Segment_Create(&segments[0], client, own, sizeof own, GEX_MK_HOST, 0) == GASNET_OK);
    CHECK(gex_Segment_Create(&segments[1], client, NULL, sizeof own, GEX_MK_HOST, 0) == GASNET_OK);
    CHECK(gex_Segment_QuerySize(segments[1]) >= sizeof own);
    CHECK(gex_Segment_Create(&none, client, NULL, UINTPTR_MAX, GEX_MK_HOST, 0) == GASNET_ERR_BAD_ARG);
    CHECK(gex_Segment_Create(&none, client, own, UINTPTR_MAX, GEX_MK_HOST, 0) == GASNET_ERR_BAD_ARG);
    CHECK(gex_EP_BindSegment(endpoint, segments[0], 0) == GASNET_ERR_BAD_ARG);
    for (i = 0; i < 2; i++) {
        CHECK(gex_EP_QuerySegment(eps[i]) == GEX_SEGMENT_INVALID);
        CHECK(gex_EP_BindSegment(eps[i], segments[i], 0) == GASNET_OK);
    }
    CHECK(gex_EP_PublishBoundSegment(world, eps, 2, 0) == GASNET_OK);
    for (i = 0; i < 2; i++) {
        gex_TM_t pair = gex_TM_Pair(endpoint, (gex_EP_Index_t)(i + 1));
        void *at;
        uintptr_t bytes;
        CHECK(pair == gex_TM_Pair(endpoint, (gex_EP_Index_t)(i + 1)) && pair != world);
        CHECK(gex_EP_QueryBoundSegmentNB(pair, peer, &at, NULL, &bytes, GEX_FLAG_IMMEDIATE) == GEX_EVENT_INVALID);
        CHECK(bytes >= sizeof own);
        transfers(pair, peer, (char *)at, 150000);
        transfers(pair, peer, (char *)at, 1);
        transfers(gex_TM_Pair(eps[0], (gex_EP_Index_t)(i + 1)), peer, (char *)at + 99, 5000);
    }
    barrier();
    gex_Segment_Destroy(segments[1], 0);
}

int main(int argc, char **argv)
{
    const size_t sizes[] = {0, 1, 8, 33, 64, 65, 4096, 40000, 300000};
    const size_t area = 74 * GASNET_PAGESIZE;
    gex_Rank_t rank;
    size_t i;
    uintptr_t bytes;
    void *local;
    begin(argc, argv, NULL, 0, 0);
    CHECK(gasnet_getMaxGlobalSegmentSize() >= (size + 1) * area);
    CHECK(gex_Segment_Attach(&segment, world, (size + me % 2) * area) == GASNET_OK);
    CHECK(gex_EP_QuerySegment(endpoint) == segment);
    for (rank = 0; rank < size; rank++) {
        CHECK(gex_Segment_QueryBound(world, rank, NULL, &local, &bytes) == 0);
        CHECK(bytes == (size + rank % 2) * area);
        for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
            transfers(world, rank, segment_of(rank) + me * area, sizes[i]);
        values(rank, segment_of(rank) + me * area + 3);
    }
    barrier();
    endpoints();
    return finish();
}

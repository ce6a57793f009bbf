/* Teams: split, made of locations, translated; barriers, broadcasts and reductions on them. */
#include "job.h"
#include <gasnet_coll.h>
#include <unistd.h>

static void add_pairs(const void *left, void *right_and_out, size_t count, const void *cdata)
{
    const double *a = (const double *)left;
    double *b = (double *)right_and_out;
    size_t i;
    CHECK(cdata == (const void *)&world);
    for (i = 0; i < 2 * count; i++)
        b[i] += a[i];
}

/* Each number is a 2x2 matrix; the product of others is the right one only in this order. */
static void multiply(const void *left, void *right_and_out, size_t count, const void *cdata)
{
    const double *a = (const double *)left;
    double *b = (double *)right_and_out;
    size_t i;
    (void)cdata;
    for (i = 0; i < count; i++, a += 4, b += 4) {
        double c[4];
        c[0] = a[0] * b[0] + a[1] * b[2];
        c[1] = a[0] * b[1] + a[1] * b[3];
        c[2] = a[2] * b[0] + a[3] * b[2];
        c[3] = a[2] * b[1] + a[3] * b[3];
        memcpy(b, c, sizeof c);
    }
}

/* An affine function a rank, x -> (rank + 2) x + rank, as a matrix: together they are another one in another order. */
static void in_order(gex_TM_t tm)
{
    gex_Rank_t rank = gex_TM_QueryRank(tm), n = gex_TM_QuerySize(tm), root, r;
    double mine[4], all[4], expected[4] = {1, 0, 0, 1};
    for (r = 0; r < n; r++) {
        double next[4] = {r + 2.0, (double)r, 0, 1};
        multiply(expected, next, 1, NULL);
        memcpy(expected, next, sizeof next);
    }
    for (root = 0; root < n; root++) {
        mine[0] = rank + 2.0, mine[1] = rank, mine[2] = 0, mine[3] = 1;
        all[0] = -1;
        gex_Event_Wait(gex_Coll_ReduceToOneNB(tm, root, all, mine, GEX_DT_USER, sizeof mine, 1, GEX_OP_USER_NC,
                                              multiply, NULL, 0));
        if (rank == root)
            CHECK(memcmp(all, expected, sizeof all) == 0);
        else
            CHECK(all[0] == -1);
    }
}

/* With scratch space of their own, members have met when they have a team. */
static void meets(void)
{
    gex_EP_Location_t all[64];
    gex_TM_t made;
    gex_Rank_t r;
    char *base = (char *)gex_Segment_QueryAddr(segment);
    void *scratch = base + GASNET_PAGESIZE;
    uint64_t *word = (uint64_t *)(base + 2 * GASNET_PAGESIZE);
    if (size > 64)
        return;
    *word = 0;
    barrier();
    for (r = 0; r < size; r++) {
        all[r].gex_rank = r;
        all[r].gex_ep_index = 0;
    }
    if (me == size - 1)
        sleep(1);
    *word = me + 1;
    gex_TM_Create(&made, 1, world, all, size, &scratch, 64, GEX_FLAG_TM_LOCAL_SCRATCH);
    CHECK(gex_RMA_GetBlockingVal(world, size - 1, segment_of(size - 1) + 2 * GASNET_PAGESIZE, 8, 0) == size);
    CHECK(gex_TM_Destroy(made, NULL, 0) == 0);
}

static void collectives(gex_TM_t tm)
{
    gex_Rank_t rank = gex_TM_QueryRank(tm), n = gex_TM_QuerySize(tm), root;
    static char big[100000], to[100000];
    int64_t mine[3], sum[3];
    double pair[2], pairs[2];
    gex_Event_t events[4];
    size_t i;
    for (root = 0; root < n; root++) {
        memset(to, 0, sizeof to);
        for (i = 0; i < sizeof big; i++)
            big[i] = (char)(i + rank);
        gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, to, big, sizeof big, 0));
        for (i = 0; i < sizeof to; i++)
            CHECK(to[i] == (char)(i + root));
        for (i = 0; i < 3; i++)
            mine[i] = (int64_t)((rank + 1) * (i + 1));
        gex_Event_Wait(gex_Coll_ReduceToOneNB(tm, root, sum, mine, GEX_DT_I64, 8, 3, GEX_OP_ADD, NULL, NULL, 0));
        for (i = 0; rank == root && i < 3; i++)
            CHECK(sum[i] == (int64_t)((i + 1) * n * (n + 1) / 2));
    }
    pair[0] = rank;
    pair[1] = 2.0 * rank;
    /* Several under way, synchronized in another order. */
    events[0] = gex_Coll_BarrierNB(tm, 0);
    events[1] = gex_Coll_ReduceToAllNB(tm, sum, mine, GEX_DT_I64, 8, 3, GEX_OP_MAX, NULL, NULL, 0);
    events[2] = gex_Coll_ReduceToAllNB(tm, pairs, pair, GEX_DT_USER, 16, 1, GEX_OP_USER, add_pairs, &world, 0);
    events[3] = gex_Coll_BarrierNB(tm, 0);
    gex_Event_Wait(events[2]);
    gex_Event_Wait(events[3]);
    gex_Event_WaitAll(events, 2, 0);
    for (i = 0; i < 3; i++)
        CHECK(sum[i] == (int64_t)(n * (i + 1)));
    CHECK(pairs[0] == n * (n - 1) / 2.0 && pairs[1] == n * (n - 1.0));
}

static void types(void)
{
    int32_t i32 = -(int32_t)me - 1;
    uint32_t u32 = 1u << (me % 32), ored;
    uint64_t u64 = 3, product;
    float flt = 0.5f * (float)me, least;
    double dbl = (double)me, most;
    gex_Rank_t r;
    uint32_t expected = 0;
    uint64_t power = 1;
    int32_t low;
    for (r = 0; r < size; r++) {
        expected |= 1u << (r % 32);
        power *= 3;
    }
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &low, &i32, GEX_DT_I32, 4, 1, GEX_OP_MIN, NULL, NULL, 0));
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &ored, &u32, GEX_DT_U32, 4, 1, GEX_OP_OR, NULL, NULL, 0));
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &product, &u64, GEX_DT_U64, 8, 1, GEX_OP_MULT, NULL, NULL, 0));
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &least, &flt, GEX_DT_FLT, 4, 1, GEX_OP_MIN, NULL, NULL, 0));
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &most, &dbl, GEX_DT_DBL, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
    CHECK(low == -(int32_t)size && ored == expected && product == power && least == 0.0f && most == size - 1.0);
    /* In place. */
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &u64, &u64, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
    CHECK(u64 == 3 * (uint64_t)size);
}

/* What fits into a message to any member is what fits into one to the least of them. */
static void limits(gex_TM_t team)
{
    size_t least = SIZE_MAX, most;
    gex_Rank_t rank;
    for (rank = 0; rank < gex_TM_QuerySize(team); rank++) {
        most = gex_AM_MaxRequestMedium(team, rank, GEX_EVENT_NOW, 0, 0);
        least = most < least ? most : least;
    }
    CHECK(gex_AM_MaxRequestMedium(team, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0) == least);
    CHECK(least >= gex_AM_LUBRequestMedium());
}

int main(int argc, char **argv)
{
    gex_TM_t half, reversed, near, made, none = GEX_TM_INVALID;
    gex_EP_Location_t *all;
    gex_Memvec_t scratch;
    gex_Rank_t r;
    size_t bytes;
    char *base;
    begin(argc, argv, NULL, 0, 16);
    base = (char *)gex_Segment_QueryAddr(segment);
    collectives(world);
    types();
    bytes = gex_TM_Split(&half, world, (int)(me % 2), (int)me, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    CHECK(bytes > 0);
    gex_TM_Split(&half, world, (int)(me % 2), (int)me, base, bytes, 0);
    CHECK(gex_TM_QuerySize(half) == (size + 1 - me % 2) / 2 && gex_TM_QueryRank(half) == me / 2);
    CHECK(gex_TM_TranslateRankToJobrank(half, me / 2) == me && gex_TM_TranslateJobrankToRank(half, me) == me / 2);
    if (size > 1)
        CHECK(gex_TM_TranslateJobrankToRank(half, me ^ 1u) == GEX_RANK_INVALID || (me ^ 1u) >= size);
    CHECK(gex_TM_QueryClient(half) == client && gex_TM_QueryEP(half) == endpoint && gex_TM_QueryCData(half) == NULL);
    collectives(half);
    gex_TM_Split(&reversed, world, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    CHECK(gex_TM_QueryRank(reversed) == size - 1 - me);
    collectives(reversed);
    gex_TM_Split(me == 0 ? NULL : &none, world, 7, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    CHECK((none == GEX_TM_INVALID) == (me == 0));
    if (me != 0)
        collectives(none);
    in_order(world);
    in_order(reversed);
    meets();
    /* Who makes no team gives any color. */
    none = GEX_TM_INVALID;
    gex_TM_Split(me == 0 ? NULL : &none, world, me == 0 ? -0xbad : 3, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    CHECK((none == GEX_TM_INVALID) == (me == 0));
    CHECK(me == 0 || gex_TM_QuerySize(none) == size - 1);
    /* Of four PEs on two hosts, those of a host. */
    limits(world);
    gex_TM_Split(&near, world, (int)(me * 2 / size), 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    limits(near);
    /* In the order of locations, of a team of a team. */
    all = (gex_EP_Location_t *)malloc(size * sizeof *all);
    for (r = 0; r < size; r++) {
        all[r].gex_rank = (r + 1) % size;
        all[r].gex_ep_index = 0;
    }
    gex_TM_Create(&made, 1, reversed, all, size, NULL, 0, GEX_FLAG_RANK_IS_JOBRANK | GEX_FLAG_TM_NO_SCRATCH);
    CHECK(gex_TM_TranslateRankToEP(made, 0, 0).gex_rank == 1 % size);
    collectives(made);
    CHECK(gex_TM_Destroy(made, NULL, 0) == 0);
    CHECK(gex_TM_Destroy(half, &scratch, 0) != 0 && scratch.gex_addr == base && scratch.gex_len == bytes);
    barrier();
    return finish();
}

/* Active messages of all kinds and numbers of arguments, to every rank, with replies of all kinds. */
#include "job.h"

#define SHORT 128
#define MEDIUM 129
#define LONG 130
#define REPLY 150

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static volatile int replies;
static int requests;

static unsigned char byte(int seed, size_t i)
{
    return (unsigned char)((size_t)seed * 31 + i * 7);
}

static void check_data(int seed, const void *data, size_t bytes)
{
    size_t i;
    for (i = 0; i < bytes; i++)
        CHECK(((const unsigned char *)data)[i] == byte(seed, i));
}

/* Arguments are 1000 plus their place, and for the last ones what the message is about. */
static void check_args(const gex_AM_Arg_t *args, int n)
{
    int i;
    for (i = 0; i < n; i++)
        CHECK(args[i] == 1000 + i);
}

static void count_reply(void)
{
    gex_HSL_Lock(&lock);
    replies++;
    gex_HSL_Unlock(&lock);
}

static gex_Rank_t check_token(gex_Token_t token, int is_request, int is_long, int index)
{
    gex_Token_Info_t info;
    CHECK((gex_Token_Info(token, &info, GEX_TI_ALL) & GEX_TI_ALL) == GEX_TI_ALL);
    CHECK(info.gex_srcrank < size && info.gex_ep == endpoint);
    CHECK(!info.gex_is_req == !is_request && !info.gex_is_long == !is_long);
    CHECK(info.gex_entry->gex_index == index && info.gex_entry->gex_cdata == &replies);
    CHECK(gex_System_QueryJobRank() == me && gex_TM_QuerySize(world) == size);
    return info.gex_srcrank;
}

#define P1 gex_AM_Arg_t a0
#define V1 a0
#define P2 P1, gex_AM_Arg_t a1
#define V2 V1, a1
#define P3 P2, gex_AM_Arg_t a2
#define V3 V2, a2
#define P4 P3, gex_AM_Arg_t a3
#define V4 V3, a3
#define P5 P4, gex_AM_Arg_t a4
#define V5 V4, a4
#define P6 P5, gex_AM_Arg_t a5
#define V6 V5, a5
#define P7 P6, gex_AM_Arg_t a6
#define V7 V6, a6
#define P8 P7, gex_AM_Arg_t a7
#define V8 V7, a7
#define P9 P8, gex_AM_Arg_t a8
#define V9 V8, a8
#define P10 P9, gex_AM_Arg_t a9
#define V10 V9, a9
#define P11 P10, gex_AM_Arg_t a10
#define V11 V10, a10
#define P12 P11, gex_AM_Arg_t a11
#define V12 V11, a11
#define P13 P12, gex_AM_Arg_t a12
#define V13 V12, a12
#define P14 P13, gex_AM_Arg_t a13
#define V14 V13, a13
#define P15 P14, gex_AM_Arg_t a14
#define V15 V14, a14
#define P16 P15, gex_AM_Arg_t a15
#define V16 V15, a15
#define A1 1000
#define A2 A1, 1001
#define A3 A2, 1002
#define A4 A3, 1003
#define A5 A4, 1004
#define A6 A5, 1005
#define A7 A6, 1006
#define A8 A7, 1007
#define A9 A8, 1008
#define A10 A9, 1009
#define A11 A10, 1010
#define A12 A11, 1011
#define A13 A12, 1012
#define A14 A13, 1013
#define A15 A14, 1014
#define A16 A15, 1015

/* For a number of arguments: three request handlers that reply in kind, three reply handlers, and a round of them. */
#define ROUND(n) \
    static void short_##n(gex_Token_t token, P##n) \
    { \
        const gex_AM_Arg_t args[] = {V##n}; \
        check_token(token, 1, 0, SHORT); \
        check_args(args, n); \
        gex_AM_ReplyShort##n(token, REPLY, 0, A##n); \
    } \
    static void medium_##n(gex_Token_t token, void *data, size_t bytes, P##n) \
    { \
        const gex_AM_Arg_t args[] = {V##n}; \
        check_token(token, 1, 0, MEDIUM); \
        CHECK((uintptr_t)data % 8 == 0); \
        check_args(args, n); \
        check_data(n, data, bytes); \
        gex_AM_ReplyMedium(token, REPLY + 1, data, bytes, GEX_EVENT_NOW, 0, A##n); \
    } \
    static void long_##n(gex_Token_t token, void *data, size_t bytes, P##n) \
    { \
        const gex_AM_Arg_t args[] = {V##n}; \
        gex_Rank_t from = check_token(token, 1, 1, LONG); \
        CHECK((char *)data == mine + from * AREA); \
        check_args(args, n); \
        check_data(n, data, bytes); \
        gex_AM_ReplyLong##n(token, REPLY + 2, data, bytes, theirs[from] + (size + me) * AREA, GEX_EVENT_NOW, 0, A##n); \
    } \
    static void short_reply_##n(gex_Token_t token, P##n) \
    { \
        const gex_AM_Arg_t args[] = {V##n}; \
        check_token(token, 0, 0, REPLY); \
        check_args(args, n); \
        count_reply(); \
    } \
    static void medium_reply_##n(gex_Token_t token, void *data, size_t bytes, P##n) \
    { \
        const gex_AM_Arg_t args[] = {V##n}; \
        check_token(token, 0, 0, REPLY + 1); \
        check_args(args, n); \
        check_data(n, data, bytes); \
        count_reply(); \
    } \
    static void long_reply_##n(gex_Token_t token, void *data, size_t bytes, P##n) \
    { \
        const gex_AM_Arg_t args[] = {V##n}; \
        gex_Rank_t from = check_token(token, 0, 1, REPLY + 2); \
        CHECK((char *)data == mine + (size + from) * AREA); \
        check_args(args, n); \
        check_data(n, data, bytes); \
        count_reply(); \
    } \
    static void round_##n(gex_Rank_t rank, size_t bytes) \
    { \
        gex_Event_t done; \
        size_t i; \
        for (i = 0; i < bytes; i++) \
            source[i] = byte(n, i); \
        CHECK(gex_AM_RequestShort##n(world, rank, SHORT, 0, A##n) == 0); \
        while (gex_AM_RequestShort(world, rank, SHORT, GEX_FLAG_IMMEDIATE, A##n) != 0) \
            gasnet_AMPoll(); \
        CHECK(gex_AM_RequestMedium##n(world, rank, MEDIUM, source, bytes, &done, 0, A##n) == 0); \
        gex_Event_Wait(done); \
        CHECK(gex_AM_RequestMedium(world, rank, MEDIUM, source, bytes, GEX_EVENT_GROUP, 0, A##n) == 0); \
        gex_NBI_Wait(GEX_EC_AM, 0); \
        CHECK(gex_AM_RequestLong##n(world, rank, LONG, source, bytes, theirs[rank] + me * AREA, GEX_EVENT_NOW, 0,  \
                                    A##n) == 0);                                                               \
        requests += 5; \
        GASNET_BLOCKUNTIL(replies == requests); \
    }

#define AREA 65536
static char *mine, **theirs;
static unsigned char source[AREA];

/* The suite makes a program of this one for each number of arguments: -DARGS=n. */
#define ROUND_OF(n) ROUND(n)
ROUND_OF(ARGS)

#define ENTRY(index, function, kind, way, n) \
    {index, (gex_AM_Fn_t)function, GEX_FLAG_AM_##kind | GEX_FLAG_AM_##way, n, (const void *)&replies, #function}
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##b

static volatile int bare, addressed;
static void *expected;
static size_t prepared;

static void bare_short(gex_Token_t token)
{
    gex_AM_ReplyShort0(token, 181, 0);
}
static void bare_reply(gex_Token_t token)
{
    (void)token;
    bare++;
}
/* Empty, with the address that the sender has named. */
static void empty_long(gex_Token_t token, void *data, size_t bytes)
{
    CHECK(data == (void *)(uintptr_t)0x1234568 && bytes == 0);
    gex_AM_ReplyShort(token, 181, 0);
}
static void echo(gex_Token_t token, void *data, size_t bytes)
{
    gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, bytes, bytes, NULL, 0, 1);
    CHECK(gex_AM_SrcDescSize(sd) == bytes);
    memcpy(gex_AM_SrcDescAddr(sd), data, bytes);
    gex_AM_CommitReplyMedium(sd, 184, bytes, 77);
}
static void echoed(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t arg)
{
    (void)token;
    CHECK(arg == 77 && bytes == prepared);
    check_data(5, data, bytes);
    bare++;
}
static void into(gex_Token_t token, void *data, size_t bytes)
{
    (void)token;
    CHECK(data == expected && bytes == prepared);
    check_data(6, data, bytes);
    addressed++;
}

static void negotiate(gex_Rank_t rank)
{
    size_t most = gex_AM_MaxRequestMedium(world, rank, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0), i;
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(world, rank, NULL, 1, 1 << 30, NULL, 0, 0);
    unsigned char *at = (unsigned char *)gex_AM_SrcDescAddr(sd);
    CHECK(gex_AM_SrcDescSize(sd) == most && (uintptr_t)at % 16 == 0);
    prepared = most - 3;
    for (i = 0; i < prepared; i++)
        at[i] = byte(5, i);
    gex_AM_CommitRequestMedium(sd, 183, prepared);
    GASNET_BLOCKUNTIL(bare == 3);
    sd = gex_AM_PrepareRequestLong(world, me, source, 10, 100, NULL, GEX_EVENT_NOW, 0, 0);
    CHECK(gex_AM_SrcDescAddr(sd) == source && gex_AM_SrcDescSize(sd) == 100);
    for (i = 0; i < 100; i++)
        source[i] = byte(6, i);
    prepared = 60;
    expected = mine + 2 * size * AREA;
    gex_AM_CommitRequestLong(sd, 185, 60, expected);
    GASNET_BLOCKUNTIL(addressed == 1);
    bare = addressed = 0;
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        ENTRY(SHORT, JOIN(short_, ARGS), SHORT, REQUEST, ARGS),
        ENTRY(MEDIUM, JOIN(medium_, ARGS), MEDIUM, REQUEST, ARGS),
        ENTRY(LONG, JOIN(long_, ARGS), LONG, REQREP, ARGS),
        ENTRY(REPLY, JOIN(short_reply_, ARGS), SHORT, REPLY, ARGS),
        ENTRY(REPLY + 1, JOIN(medium_reply_, ARGS), MEDLONG, REPLY, ARGS),
        ENTRY(REPLY + 2, JOIN(long_reply_, ARGS), LONG, REPLY, ARGS),
        ENTRY(180, bare_short, SHORT, REQUEST, 0),
        ENTRY(181, bare_reply, SHORT, REPLY, 0),
        ENTRY(182, empty_long, LONG, REQUEST, 0),
        ENTRY(183, echo, MEDIUM, REQUEST, 0),
        ENTRY(184, echoed, MEDIUM, REPLY, 1),
        ENTRY(185, into, LONG, REQUEST, 0),
        ENTRY(0, bare_short, SHORT, REQUEST, 0),
        ENTRY(0, bare_short, SHORT, REQUEST, 0),
    };
    const size_t sizes[] = {0, 1, 63, 512, 8000};
    gex_AM_Entry_t twice[2];
    gex_Rank_t rank;
    size_t i;
    CHECK(gex_Client_Init(&client, &endpoint, &world, "AM_TEST", &argc, &argv, 0) == GASNET_OK);
    me = gex_TM_QueryRank(world);
    size = gex_TM_QuerySize(world);
    CHECK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof *table) == GASNET_OK);
    CHECK(table[12].gex_index == 255 && table[13].gex_index == 254);
    twice[0] = twice[1] = table[0];
    twice[0].gex_index = twice[1].gex_index = 210;
    CHECK(gex_EP_RegisterHandlers(endpoint, twice, 2) == GASNET_ERR_BAD_ARG);
    CHECK(gex_EP_RegisterHandlers(endpoint, twice, 1) == GASNET_OK);
    CHECK(gex_Segment_Attach(&segment, world, (2 * size + 1) * AREA) == GASNET_OK);
    mine = (char *)gex_Segment_QueryAddr(segment);
    theirs = (char **)malloc(size * sizeof *theirs);
    for (rank = 0; rank < size; rank++)
        theirs[rank] = segment_of(rank);
    barrier();
    CHECK(gex_AM_MaxArgs() == 16 && gex_AM_LUBRequestMedium() >= 512 && gex_AM_LUBReplyLong() >= 512);
    for (rank = 0; rank < size; rank++) {
        CHECK(gex_AM_MaxRequestMedium(world, rank, GEX_EVENT_NOW, 0, 16) >= gex_AM_LUBRequestMedium());
        for (i = 0; i < sizeof sizes / sizeof *sizes; i++)
            JOIN(round_, ARGS)(rank, sizes[i]);
        gex_AM_RequestShort0(world, rank, 180, 0);
        gex_AM_RequestLong(world, rank, 182, NULL, 0, (void *)(uintptr_t)0x1234568, GEX_EVENT_NOW, 0);
        GASNET_BLOCKUNTIL(bare == 2);
        negotiate(rank);
    }
    return finish();
}

/* What clients that are in use call and include: names and habits of UPC++, Realm and Chapel, in C++. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static gex_TM_t world;
static gex_Rank_t me, size;
static volatile int called;

#define CHECK(condition) \
    do { \
        if_pf (!(condition)) { \
            std::fprintf(stderr, "rank %u: %s:%d: %s\n", (unsigned)me, __FILE__, __LINE__, #condition); \
            gasnet_exit(99); \
        } \
    } while (0)

namespace {
enum { id_eager = 256 - 8, id_reply, id_pair };

GASNETT_USED void eager(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t align)
{
    CHECK(bytes == 24 && ((uintptr_t)data & ((uintptr_t)align - 1)) == 0);
    gex_AM_ReplyShort2(token, id_reply, 0, 1, 2);
}

void reply(gex_Token_t, gex_AM_Arg_t low, gex_AM_Arg_t high)
{
    called += low + high;
}

void by_pair(gex_Token_t, void *, size_t, gex_AM_Arg_t, gex_AM_Arg_t);

gex_AM_Entry_t table[] = {
    {id_pair, (void (*)())by_pair, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 2, nullptr, "by pair"},
    {id_eager, (void (*)())eager, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "eager"},
    {id_reply, (void (*)())reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, nullptr, "reply"},
};

/* Sources that are const, and names that are there to be named. */
[[maybe_unused]] const void *const named[] = {(const void *)_gasneti_threadkey_init,
                                              (const void *)_gasnett_trace_printf_noop};

GASNETT_IDENT(ident, "$Network: " _STRINGIFY(GASNET_CONDUIT_NAME) ", " PLATFORM_COMPILER_IDSTR " $");

void *hooked_at;
uintptr_t hooked_bytes;

void hook(void *address, uintptr_t bytes)
{
    hooked_at = address;
    hooked_bytes = bytes;
    memset(address, 0, bytes);
}

/* Requests by a pair of endpoints, whose handler asks for the endpoint's data. */
int context;

void by_pair(gex_Token_t token, void *, size_t bytes, gex_AM_Arg_t a, gex_AM_Arg_t b)
{
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP);
    CHECK(gex_EP_QueryCData(info.gex_ep) == &context && info.gex_srcrank < size && bytes == 8);
    CHECK(gex_AM_ReplyShort2(token, id_reply, 0, a, b) == GASNET_OK);
}

GASNETT_HOT void pairs(gex_EP_t endpoint, gex_Rank_t peer)
{
    static const int64_t payload = 7;
    gex_TM_t pair = gex_TM_Pair(endpoint, 0);
    CHECK(gex_AM_MaxRequestMedium(pair, peer, GEX_EVENT_GROUP, GEX_FLAG_IMMEDIATE, 2) >= 512);
    CHECK(gex_AM_MaxRequestLong(pair, peer, GEX_EVENT_NOW, 0, 2) >= 512);
    while (gex_AM_RequestMedium2(pair, peer, id_pair, &payload, sizeof payload, GEX_EVENT_GROUP, GEX_FLAG_IMMEDIATE, 1,
                                 2))
        gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_AM, 0);
    gex_AM_SrcDesc_t prepared =
        gex_AM_PrepareRequestMedium(pair, peer, &payload, sizeof payload, sizeof payload, GEX_EVENT_NOW, 0, 2);
    CHECK(prepared != GEX_AM_SRCDESC_NO_OP);
    gex_AM_CommitRequestMedium2(prepared, id_pair, sizeof payload, 1, 2);
}

/* What every rank gives, gathered by broadcasts of which several are under way; a reduction in place. */
void gather()
{
    std::vector<gex_Rank_t> all(size);
    std::vector<gex_Event_t> events(size);
    for (gex_Rank_t root = 0; root < size; root++)
        events[root] = gex_Coll_BroadcastNB(world, root, &all[root], &me, sizeof me, 0);
    gex_Event_WaitAll(events.data(), events.size(), 0);
    for (gex_Rank_t rank = 0; rank < size; rank++)
        CHECK(all[rank] == rank);
    uint64_t most = me;
    gex_Event_Wait(gex_Coll_ReduceToOneNB(world, 0, &most, &most, GEX_DT_U64, sizeof most, 1, GEX_OP_MAX, 0, 0, 0));
    CHECK(me != 0 || most == size - 1);
}

GASNETT_COLD void environment()
{
    CHECK(std::strncmp(ident, "$Network: PELLUCID, ", 20) == 0);
    const gasnett_atomic_t word = gasnett_atomic_init(5);
    CHECK(gasnett_atomic_read(&word, 0) == 5);
    CHECK((uint64_t)GASNETI_MAX_THREADS == gex_System_QueryMaxThreads());
    CHECK(gasnett_getenv("PATH") != nullptr);
    gasnett_envstr_display("CLIENT_NAME", "value", 1);
    gasnett_envint_display("CLIENT_SIZE", 128 << 20, 0, 1);
    gasnett_envdbl_display("CLIENT_RATIO", 0.5, 0);
    CHECK(gasnett_cpu_count() > 0 && gasnett_gethostname() != nullptr);
    CHECK(gasnet_set_waitmode(GASNET_WAIT_SPIN) == GASNET_OK);
}

GASNETT_HOT void negotiate(gex_Rank_t peer)
{
    size_t most = gex_AM_MaxRequestMedium(world, GEX_RANK_INVALID, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 3);
    CHECK(most >= 512);
    gex_AM_SrcDesc_t prepared = gex_AM_PrepareRequestMedium(world, peer, nullptr, 24, 24, nullptr, 0, 1);
    CHECK(prepared != GEX_AM_SRCDESC_NO_OP && gex_AM_SrcDescSize(prepared) >= 24);
    CHECK(gex_AM_SrcDescAddr(prepared) != nullptr);
    gex_AM_CommitRequestMedium1(prepared, id_eager, 24, 8);
}

/* A team of the neighbours, from locations, with scratch space in the segment. */
void neighbours(char *scratch)
{
    gex_RankInfo_t *info;
    gex_Rank_t count, mine;
    gex_System_QueryNbrhdInfo(&info, &count, &mine);
    std::vector<gex_EP_Location_t> peers(count);
    for (gex_Rank_t i = 0; i < count; i++)
        peers[i].gex_rank = info[i].gex_jobrank, peers[i].gex_ep_index = 0;
    size_t needed = gex_TM_Create(nullptr, 1, world, peers.data(), count, nullptr, 0,
                                  GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_LOCAL_SCRATCH |
                                      GEX_FLAG_RANK_IS_JOBRANK);
    CHECK(needed > 0 && needed <= GASNET_PAGESIZE);
    gex_TM_t local;
    gex_Addr_t at = scratch;
    gex_TM_Create(&local, 1, world, peers.data(), count, &at, needed,
                  GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
    gex_TM_SetCData(local, scratch);
    CHECK(gex_TM_QueryRank(local) == mine && gex_TM_QueryCData(local) == scratch);
    struct stats {
        int count, least;
    } one = {1, (int)me}, all = one;
    gex_Event_t event = gex_Coll_ReduceToAllNB(
        local, &all, &one, GEX_DT_USER, sizeof one, 1, GEX_OP_USER,
        (gex_Coll_ReduceFn_t)[](const void *left, void *right, std::size_t n, const void *) {
            for (std::size_t i = 0; i != n; i++) {
                const stats &in = ((const stats *)left)[i];
                stats &out = ((stats *)right)[i];
                out.count += in.count;
                out.least = in.least < out.least ? in.least : out.least;
            }
        },
        nullptr, 0);
    while (gex_Event_Test(event) != 0)
        gasnet_AMPoll();
    CHECK(all.count == (int)count && all.least == (int)info[0].gex_jobrank);
    gex_Memvec_t given;
    CHECK(gex_TM_Destroy(local, &given, GEX_FLAG_GLOBALLY_QUIESCED) != 0 && given.gex_addr == scratch);
}
} // namespace

int main()
{
    gex_Client_t client;
    gex_EP_t endpoint;
    gex_Segment_t segment;
    CHECK(gex_Client_Init(&client, &endpoint, &world, "upcxx", nullptr, nullptr, 0) == GASNET_OK);
    me = gex_TM_QueryRank(world);
    size = gex_TM_QuerySize(world);
    CHECK(gasnet_getMaxLocalSegmentSize() >= 16 * GASNET_PAGESIZE);
    gasnet_client_attach_hook = hook;
    gex_EP_SetCData(endpoint, &context);
    CHECK(gex_Segment_Attach(&segment, world, 16 * GASNET_PAGESIZE) == GASNET_OK);
    CHECK(hooked_at == gex_Segment_QueryAddr(segment) && hooked_bytes == 16 * GASNET_PAGESIZE);
    CHECK(gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof table[0]) == GASNET_OK);
    gex_System_SetVerboseErrors(0);
    void *mine;
    size_t bytes;
    CHECK(gex_Segment_QueryBound(world, me, &mine, nullptr, &bytes) == GASNET_OK && bytes == 16 * GASNET_PAGESIZE);
    environment();
    gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
    for (gex_Rank_t peer = 0; peer < size; peer++)
        negotiate(peer);
    GASNET_BLOCKUNTIL(called == 3 * (int)size);
    for (gex_Rank_t peer = 0; peer < size; peer++)
        pairs(endpoint, peer);
    GASNET_BLOCKUNTIL(called == 9 * (int)size);
    gather();
    neighbours((char *)mine + 8 * GASNET_PAGESIZE);
    gex_MK_Create_args_t arguments;
    gex_MK_t kind = GEX_MK_INVALID;
    arguments.gex_flags = 0;
    arguments.gex_class = GEX_MK_CLASS_CUDA_UVA;
    arguments.gex_args.gex_class_cuda_uva.gex_CUdevice = 0;
    CHECK(gex_MK_Create(&kind, client, &arguments, 0) == GASNET_ERR_BAD_ARG && kind == GEX_MK_INVALID);
    gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
    std::printf("rank %u: all is well\n", (unsigned)me);
    std::fflush(stdout);
    gasnet_exit(0);
}

/*
 * GASNet-EX beside OpenSHMEM, in one program of two PEs: messages against the ping-pong of a flag and against memcpy,
 * put, get and atomics of 8 bytes against the shmem_ routines on the same memory.
 */
#include "shmem_bench.h"

#include <gasnetex.h>
#include <gasnet_ratomic.h>

#define PING 200
#define PONG 201
#define TAKE 202
#define TAKE_DATA 203
#define PAYLOAD 4096
/* What a stream of payloads passes through: as large as a PE's queue. */
#define QUEUE (512 << 10)

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Segment_t segment;
static volatile long pings, pongs, taken;
static double of_memcpy;
static char payload[QUEUE];
static volatile long looked_at;

static void ping(gex_Token_t token)
{
    pings++;
    gex_AM_ReplyShort0(token, PONG, 0);
}

static void pong(gex_Token_t token)
{
    (void)token;
    pongs++;
}

static void take(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b)
{
    (void)token, (void)a, (void)b;
    taken++;
}

/* Reads one byte of each cache line: independent loads, as many at a time as the processor has room for. */
static void look_at(const char *data, size_t bytes)
{
    long sum = 0;
    for (size_t i = 0; i < bytes; i += 64)
        sum += data[i];
    looked_at += sum;
}

static void take_data(gex_Token_t token, void *data, size_t bytes)
{
    (void)token;
    look_at(data, bytes);
    taken++;
}

static void *reach_segment(gex_Rank_t rank)
{
    void *at;
    uintptr_t bytes;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &at, NULL, &bytes, 0));
    return at;
}

/* A request goes there and its reply back. */
static void there_and_back(long *rounds)
{
    ++*rounds;
    if (me == 0) {
        gex_AM_RequestShort0(team, 1, PING, 0);
        GASNET_BLOCKUNTIL(pongs >= *rounds);
    } else {
        GASNET_BLOCKUNTIL(pings >= *rounds);
    }
}

/* Messages one way, until the last one has been handled. */
static void stream(long n, size_t bytes, long *sent)
{
    *sent += n;
    if (me == 1) {
        GASNET_BLOCKUNTIL(taken >= *sent);
        return;
    }
    for (long i = 0; i < n; i++) {
        if (bytes == 0)
            gex_AM_RequestShort2(team, 1, TAKE, 0, (int)i, 0);
        else
            gex_AM_RequestMedium0(team, 1, TAKE_DATA, payload + i * (long)bytes % QUEUE, bytes, GEX_EVENT_NOW, 0);
    }
}

/* Nanoseconds of one of n, of batches that both PEs begin together. */
#define TOGETHER(batches, of, n, body)                                            \
    do {                                                                          \
        for (int b_ = 0; b_ < (batches); b_++) {                                  \
            shmem_barrier_all();                                                  \
            (of)[b_] = TIME(1, body, ) / (double)(n);                             \
        }                                                                         \
        shmem_barrier_all();                                                      \
    } while (0)

static void report_messages(int batches)
{
    double of[BATCHES], limit[BATCHES], read_by[BATCHES];
    long rounds = 0, sent = 0;
    long n = 2000;
    TOGETHER(batches, limit, n, for (long i = 0; i < n; i++) ping_pong());
    TOGETHER(batches, of, n, for (long i = 0; i < n; i++) there_and_back(&rounds));
    struct timing t = {.ns = median(of, batches), .limit_ns = median(limit, batches)};
    if (me == 0)
        report("gex-round-trip", "heap", 0, npes, t, "flag_ping_pong");
    n = 20000;
    TOGETHER(batches, of, n, stream(n, 0, &sent));
    t.ns = median(of, batches);
    if (me == 1)
        report("gex-stream", "heap", 0, npes, t, NULL);
    n = 2000;
    TOGETHER(batches, of, n, stream(n, PAYLOAD, &sent));
    t.ns = median(of, batches);
    /* What a copy takes to memory that the other PE has read, as it has read what was in its queue; and what it then
     * takes that one to read what was written, one payload after the other, as in the queue. */
    char *queue = symmetric(QUEUE), *there = reach(queue, 1 - me);
    n = QUEUE / PAYLOAD;
    look_at(queue, QUEUE);
    for (int b = 0; b < batches; b++) {
        shmem_barrier_all();
        if (me == 0)
            limit[b] = TIME(n, memcpy(there + i_ * PAYLOAD, payload + i_ * PAYLOAD, PAYLOAD), ) / (double)n;
        shmem_barrier_all();
        if (me == 1)
            read_by[b] = TIME(n, look_at(queue + i_ * PAYLOAD, PAYLOAD), ) / (double)n;
    }
    if (me == 0)
        shmem_double_p(&of_memcpy, median(limit, batches), 1);
    shmem_barrier_all();
    t.limit_ns = of_memcpy;
    if (me == 1)
        report("gex-stream", "heap", PAYLOAD, npes, t, "memcpy_to_peer");
    t.ns = median(read_by, batches);
    if (me == 1)
        report("read-from-peer", "heap", PAYLOAD, npes, t, "memcpy_to_peer");
    shmem_barrier_all();
}

static void report_memory(void)
{
    gex_AD_t domain;
    struct timing t;
    static long source = 1, result;
    gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_FADD, 0);
    long *there = reach_segment(1), *heap = symmetric(64);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    if (me == 0) {
        MEASURE_AGAINST(t, gex_Event_Wait(gex_RMA_PutNB(team, 1, there, &source, 8, GEX_EVENT_DEFER, 0)), ,
                        shmem_long_put(heap, &source, 1, 1));
        report("gex-put", "heap", 8, npes, t, "shmem_put");
        MEASURE_AGAINST(t, gex_Event_Wait(gex_RMA_GetNB(team, &result, 1, there, 8, 0)), ,
                        shmem_long_get(&result, heap, 1, 1));
        report("gex-get", "heap", 8, npes, t, "shmem_get");
        MEASURE_AGAINST(t, gex_Event_Wait(gex_AD_OpNB_I64(domain, &result, 1, there, GEX_OP_FADD, 1, 0, 0)), ,
                        result = shmem_long_atomic_fetch_add(heap, 1, 1));
        report("gex-fetch_add", "heap", 8, npes, t, "shmem_fetch_add");
    }
    shmem_barrier_all();
    gex_AD_Destroy(domain);
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {PING, (gex_AM_Fn_t)ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ping"},
        {PONG, (gex_AM_Fn_t)pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "pong"},
        {TAKE, (gex_AM_Fn_t)take, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "take"},
        {TAKE_DATA, (gex_AM_Fn_t)take_data, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "take data"},
    };
    start(argc, argv);
    need(2);
    if (gex_Client_Init(&client, &endpoint, &team, "OSHBENCH", NULL, NULL, 0) != GASNET_OK ||
        gex_EP_RegisterHandlers(endpoint, table, 4) != GASNET_OK ||
        gex_Segment_Attach(&segment, team, GASNET_PAGESIZE) != GASNET_OK)
        gasnet_exit(1);
    report_memory();
    report_messages(quick ? 21 : BATCHES);
    shmem_barrier_all();
    gasnet_exit(0);
}

/* gasnet_exit from everywhere, and what breaks a rule: the first argument says which. */
#define _DEFAULT_SOURCE
#include "job.h"
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static gex_HSL_t lock = GEX_HSL_INITIALIZER, other = GEX_HSL_INITIALIZER;
static const char *which;
static gex_Token_t kept;

static int is(const char *name)
{
    return strcmp(which, name) == 0;
}

static void reply(gex_Token_t token)
{
    if (is("reply-to-reply"))
        gex_AM_ReplyShort(token, 201, 0);
    if (is("max-reply"))
        gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0);
}

static void request(gex_Token_t token)
{
    if (is("exit-handler"))
        gasnet_exit(43);
    if (is("leaves-in-handler"))
        exit(0);
    if (is("leaves-locked")) {
        gex_HSL_Lock(&lock);
        gex_HSL_Unlock(&lock);
    }
    if (is("poll"))
        gasnet_AMPoll();
    if (is("request"))
        gex_AM_RequestShort(world, 0, 200, 0);
    if (is("put"))
        gex_RMA_PutBlockingVal(world, 0, gex_Segment_QueryAddr(segment), 1, 8, 0);
    if (is("wait"))
        gex_Event_Wait(GEX_EVENT_INVALID);
    if (is("barrier"))
        gex_Coll_BarrierNB(world, 0);
    if (is("keep-lock"))
        gex_HSL_Lock(&lock);
    if (is("reply-with-lock")) {
        gex_HSL_Lock(&lock);
        gex_AM_ReplyShort(token, 201, 0);
    }
    if (is("translate"))
        gex_TM_TranslateRankToJobrank(world, 0);
    if (is("bound"))
        gex_EP_QueryBoundSegmentNB(world, 0, NULL, NULL, NULL, 0);
    if (is("group-reply"))
        gex_AM_ReplyMedium(token, 201, NULL, 0, GEX_EVENT_GROUP, 0);
    if (is("prepare-group"))
        gex_AM_PrepareReplyMedium(token, &lock, 1, 1, GEX_EVENT_GROUP, 0, 0);
    if (is("kept-prepared")) {
        gex_AM_PrepareReplyMedium(token, NULL, 8, 8, NULL, 0, 0);
        return;
    }
    kept = token;
    gex_AM_ReplyShort(token, 201, 0);
    if (is("reply-twice"))
        gex_AM_ReplyShort(token, 201, 0);
}

static void on_exit_handler(void)
{
    gasnet_exit(46);
}

/* Interrupts gasnet_exit of the same thread. */
static void on_alarm_in_exit(int signal)
{
    (void)signal;
    gasnet_exit(47);
}

static void on_alarm(int signal)
{
    (void)signal;
    gasnet_exit(44);
}

/* A reduction's function must not communicate. */
static void reduce(const void *left, void *right, size_t count, const void *data)
{
    (void)left, (void)right, (void)count, (void)data;
    gasnet_AMPoll();
}

/* Sends for as long as the process is there. */
static void *sends(void *nothing)
{
    for (gex_Rank_t to = me;; to++)
        gex_AM_RequestShort(world, to % size, 200, 0);
    return nothing;
}

/* All leave while other threads send. */
static int leave_in_traffic(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sends, NULL);
    usleep(30000);
    if (is("traffic-exit"))
        gasnet_exit(0);
    return 0;
}

/* All leave, rank 1 from where it must not wait for the message that the last one sends it before. */
static int leave_restricted(void)
{
    if (is("leaves-locked") && me == 1) {
        gex_HSL_Lock(&lock);
        exit(0);
    }
    if (me == size - 1)
        gex_AM_RequestShort(world, 1, 200, 0);
    while (me == 1)
        gasnet_AMPoll();
    return 0;
}

/* Locks, where only the first thread may. */
static void *locks(void *nothing)
{
    gex_HSL_Lock(&lock);
    return nothing;
}

static void on_quit(int signal)
{
    (void)signal;
    printf("rank %u: SIGQUIT\n", (unsigned)me);
    fflush(stdout);
    gasnet_exit(45);
}

/* The options of messages, and Prepare and Commit. */
static void break_a_rule_of_messages(void)
{
    gex_AM_SrcDesc_t prepared;
    char byte = 0;
    if (is("defer"))
        gex_AM_RequestMedium(world, 0, 200, &byte, 1, GEX_EVENT_DEFER, 0);
    if (is("least"))
        gex_AM_RequestMedium(world, 0, 200, &byte, 1, GEX_EVENT_NOW, GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
    if (is("too-long"))
        gex_AM_RequestMedium(world, 0, 200, &byte, (size_t)1 << 30, GEX_EVENT_NOW, 0);
    if (is("commit-twice")) {
        prepared = gex_AM_PrepareRequestMedium(world, 0, NULL, 8, 8, NULL, 0, 0);
        gex_AM_CommitRequestMedium(prepared, 220, 0);
        gex_AM_CommitRequestMedium(prepared, 220, 0);
    }
    if (is("commit-size"))
        gex_AM_CommitRequestMedium(gex_AM_PrepareRequestMedium(world, 0, NULL, 8, 8, NULL, 0, 0), 220, 9);
    if (is("commit-locked")) {
        prepared = gex_AM_PrepareRequestMedium(world, 0, &byte, 1, 1, GEX_EVENT_NOW, 0, 0);
        gex_HSL_Lock(&lock);
        gex_AM_CommitRequestMedium(prepared, 220, 1);
    }
    if (is("prepare-null"))
        gex_AM_PrepareRequestMedium(world, 0, &byte, 1, 1, NULL, 0, 0);
    if (is("prepare-defer"))
        gex_AM_PrepareRequestLong(world, 0, &byte, 1, 1, NULL, GEX_EVENT_DEFER, 0, 0);
    if (is("prepare-arguments"))
        gex_AM_PrepareRequestMedium(world, 0, NULL, 8, 8, NULL, 0, 17);
    if (is("put-null"))
        gex_RMA_PutNB(world, me, segment_of(me), &byte, 1, NULL, 0);
    if (is("put-null-nbi"))
        gex_RMA_PutNBI(world, me, segment_of(me), &byte, 1, NULL, 0);
}

/* What breaks a rule outside of handlers, in the order of the specification's sections. */
static void break_a_rule(void)
{
    gex_Event_t event, leaf;
    gex_TM_t team;
    gex_AD_t domain;
    char byte = 0;
    break_a_rule_of_messages();
    if (is("token")) {
        gex_Token_Info_t info;
        gex_AM_RequestShort(world, me, 200, 0);
        GASNET_BLOCKUNTIL(kept != NULL);
        gex_Token_Info(kept, &info, GEX_TI_ALL);
    }
    if (is("leaf")) {
        event = gex_Coll_BarrierNB(world, 0);
        leaf = gex_Event_QueryLeaf(event, GEX_EC_LC);
        gex_Event_Wait(event);
        gex_Event_Wait(leaf);
    }
    if (is("no-op"))
        gex_Event_Test(GEX_EVENT_NO_OP);
    if (is("region-in-region")) {
        gex_NBI_BeginAccessRegion(0);
        gex_NBI_BeginAccessRegion(0);
    }
    if (is("wait-in-region")) {
        gex_NBI_BeginAccessRegion(0);
        gex_NBI_Wait(GEX_EC_ALL, 0);
    }
    if (is("never-self"))
        gex_RMA_PutBlockingVal(world, me, gex_Segment_QueryAddr(segment), 1, 8, GEX_FLAG_PEER_NEVER_SELF);
    if (is("never-near"))
        gex_RMA_PutBlockingVal(world, 0, segment_of(0), 1, 8, GEX_FLAG_PEER_NEVER_NBRHD);
    if (is("destroy-segment"))
        gex_Segment_Destroy(segment, 0);
    if (is("gone-segment")) {
        gex_Segment_Create(&segment, client, &byte, 1, GEX_MK_HOST, 0);
        gex_Segment_Destroy(segment, 0);
        gex_Segment_Destroy(segment, 0);
    }
    if (is("bind-nothing"))
        gex_EP_BindSegment(endpoint, GEX_SEGMENT_INVALID, 0);
    if (is("destroy-world"))
        gex_TM_Destroy(world, NULL, 0);
    if (is("much-broadcast"))
        gex_Coll_BroadcastNB(world, me, &byte, &byte, SIZE_MAX, 0);
    if (is("much-reduce"))
        gex_Coll_ReduceToAllNB(world, &byte, &byte, GEX_DT_I64, 8, (size_t)1 << 50, GEX_OP_ADD, NULL, NULL, 0);
    if (is("much-team"))
        gex_TM_Create(&team, 1, world, NULL, (size_t)1 << 60, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    if (is("much-events"))
        gex_Event_WaitAll(&event, SIZE_MAX, 0);
    if (is("pair"))
        gex_Coll_BarrierNB(gex_TM_Pair(endpoint, 0), 0);
    if (is("gone-team")) {
        gex_TM_Split(&team, world, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
        gex_TM_Destroy(team, NULL, 0);
        gex_TM_QueryRank(team);
    }
    if (is("reduction"))
        gex_Event_Wait(gex_Coll_ReduceToAllNB(world, &byte, &byte, GEX_DT_USER, 1, 1, GEX_OP_USER, reduce, NULL, 0));
    if (is("no-elements"))
        gex_Coll_ReduceToAllNB(world, &byte, &byte, GEX_DT_I32, 4, 0, GEX_OP_ADD, NULL, NULL, 0);
    if (is("overlap"))
        gex_RMA_PutBlocking(world, me, segment_of(me) + 8, segment_of(me), 64, 0);
    if (is("overlap-get"))
        gex_RMA_GetBlocking(world, segment_of(me), me, segment_of(me) + 63, 64, 0);
    if (is("overlap-all"))
        gex_Coll_ReduceToAllNB(world, segment_of(me) + 4, segment_of(me), GEX_DT_I32, 4, 2, GEX_OP_ADD, NULL, NULL, 0);
    if (is("my-rank") || is("opcode") || is("unaligned")) {
        gex_AD_Create(&domain, world, GEX_DT_U64, GEX_OP_INC | GEX_OP_GET, 0);
        gex_AD_OpNB_U64(domain, NULL, 0, segment_of(0) + (is("unaligned") ? 4 : 0),
                        is("opcode") ? GEX_OP_ADD : GEX_OP_INC, 0, 0, is("my-rank") ? GEX_FLAG_AD_MY_RANK : 0);
    }
    if (is("locked-destroy")) {
        gex_HSL_Lock(&lock);
        gex_HSL_Destroy(&lock);
    }
    if (is("no-interrupts")) {
        gasnet_hold_interrupts();
        gasnet_AMPoll();
    }
    if (is("hold-twice")) {
        gasnet_hold_interrupts();
        gasnet_hold_interrupts();
    }
    if (is("old-calls"))
        gasnet_put(0, segment_of(0), &byte, 1);
}

/* What rank 1, or the only one, does. */
static void misbehave(void)
{
    if (is("exit"))
        gasnet_exit(42);
    if (is("exit-signal")) {
        signal(SIGALRM, on_alarm);
        alarm(1);
    }
    if (is("exit-in-exit")) {
        signal(SIGALRM, on_alarm_in_exit);
        alarm(1);
        gasnet_exit(0);
    }
    if (is("locked-poll")) {
        gex_HSL_Lock(&lock);
        gasnet_AMPoll();
    }
    if (is("recursive")) {
        gex_HSL_Lock(&lock);
        gex_HSL_Lock(&lock);
    }
    if (is("order")) {
        gex_HSL_Lock(&lock);
        gex_HSL_Lock(&other);
        gex_HSL_Unlock(&lock);
    }
    if (is("prepared")) {
        gex_AM_PrepareRequestMedium(world, 0, NULL, 8, 8, NULL, 0, 0);
        gasnet_AMPoll();
    }
    if (is("rank"))
        gex_AM_RequestShort(world, size, 200, 0);
    if (is("arguments"))
        gex_AM_RequestShort(world, 0, 200, 0, 7);
    if (is("unknown"))
        gex_AM_RequestShort(world, 0, 222, 0);
    if (is("killed"))
        raise(SIGKILL);
    if (is("thread-lock")) {
        pthread_t thread;
        pthread_create(&thread, NULL, locks, NULL);
        pthread_join(thread, NULL);
    }
    if (is("twice-attached"))
        gex_Segment_Attach(NULL, world, GASNET_PAGESIZE);
    if (is("event")) {
        gex_Event_t event = gex_Coll_BarrierNB(world, 0);
        gex_Event_Wait(event);
        gex_Event_Wait(event);
    }
    break_a_rule();
    gex_AM_RequestShort(world, 0, 200, 0);
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {{200, (gex_AM_Fn_t)request, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "asks"},
                              {201, (gex_AM_Fn_t)reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answers"}};
    which = argc > 1 ? argv[1] : "nothing";
    if (is("unattached")) {
        gasnet_init(&argc, &argv);
        gasnet_AMRequestShort0(0, 200);
    }
    begin(argc, argv, table, 2, 1);
    if (strncmp(which, "traffic-", 8) == 0)
        return leave_in_traffic();
    if (strncmp(which, "leaves-", 7) == 0)
        return leave_restricted();
    if (is("quit") && me != 1)
        signal(SIGQUIT, on_quit);
    if (is("quit") && me == 1)
        gasnet_exit(45);
    if (is("exit-in-atexit")) {
        if (me == size - 1)
            atexit(on_exit_handler);
        gasnet_exit(0);
    }
    if (is("interrupt") || is("hangup")) {
        signal(SIGQUIT, on_quit);
        barrier();
        if (me == 0)
            kill(getppid(), is("interrupt") ? SIGINT : SIGHUP);
    } else if (strncmp(which, "left-", 5) == 0 && me == size - 1)
        return 0;
    else if (me == size - 1)
        misbehave();
    else if (is("event") || is("leaf"))
        barrier();
    else if (is("gone-team") || is("reduction"))
        break_a_rule();
    else if (is("left-barrier")) {
        barrier();
        barrier();
    } else if (is("left-split"))
        gex_TM_Split(&world, world, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    else if (is("left-block"))
        GASNET_BLOCKUNTIL(kept != NULL);
    for (;;) {
        if (is("killed"))
            gex_AM_RequestShort(world, (me + 1) % size, 200, 0);
        gasnet_AMPoll();
    }
}

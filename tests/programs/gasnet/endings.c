/* gasnet_exit from everywhere, and what breaks a rule: the first argument says which. */
#include "job.h"
#include <signal.h>
#include <unistd.h>

static gex_HSL_t lock = GEX_HSL_INITIALIZER, other = GEX_HSL_INITIALIZER;
static const char *which;

static int is(const char *name)
{
    return strcmp(which, name) == 0;
}

static void reply(gex_Token_t token)
{
    if (is("reply-to-reply"))
        gex_AM_ReplyShort(token, 201, 0);
}

static void request(gex_Token_t token)
{
    if (is("exit-handler"))
        gasnet_exit(43);
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
    gex_AM_ReplyShort(token, 201, 0);
    if (is("reply-twice"))
        gex_AM_ReplyShort(token, 201, 0);
}

static void on_alarm(int signal)
{
    (void)signal;
    gasnet_exit(44);
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
    if (is("twice-attached"))
        gex_Segment_Attach(NULL, world, GASNET_PAGESIZE);
    if (is("event")) {
        gex_Event_t event = gex_Coll_BarrierNB(world, 0);
        gex_Event_Wait(event);
        gex_Event_Wait(event);
    }
    gex_AM_RequestShort(world, 0, 200, 0);
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {{200, (gex_AM_Fn_t)request, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "asks"},
                              {201, (gex_AM_Fn_t)reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answers"}};
    which = argc > 1 ? argv[1] : "nothing";
    begin(argc, argv, table, 2, 1);
    if (me == size - 1)
        misbehave();
    else if (is("event"))
        barrier();
    for (;;) {
        if (is("killed"))
            gex_AM_RequestShort(world, (me + 1) % size, 200, 0);
        gasnet_AMPoll();
    }
}

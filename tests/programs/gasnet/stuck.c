/* Waits for a message that does not come: the first argument says how, what handlers have run, and which reply. The
   second is a file that PE 3 makes once it is outside of the library for good: a put to say so would end when PE 0
   gets to it. */
#define _DEFAULT_SOURCE
#include "job.h"
#include <fcntl.h>
#include <unistd.h>

static volatile int answered, asked;

static void silent(gex_Token_t token)
{
    (void)token;
}

static void answer(gex_Token_t token)
{
    (void)token;
    answered = 1;
}

static void reply(gex_Token_t token)
{
    asked = 1;
    gex_AM_ReplyShort(token, 202, 0);
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {201, (gex_AM_Fn_t)silent, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "silent"},
        {202, (gex_AM_Fn_t)answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
        {203, (gex_AM_Fn_t)reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "reply"},
    };
    const char *how = argc > 1 ? argv[1] : "";
    begin(argc, argv, table, 3, 1);
    int sleeps = strcmp(how, "ran") != 0, again = strcmp(how, "again") == 0;
    if (me == 0) {
        if (again) {
            gex_AM_RequestShort(world, 3, 203, 0);
            GASNET_BLOCKUNTIL(answered);
            answered = 0;
        }
        while (sleeps && access(argv[2], F_OK) != 0)
            usleep(10000);
        gex_AM_RequestShort(world, 3, again ? 203 : 201, 0);
        if (strcmp(how, "poll") == 0)
            while (!answered)
                gasnet_AMPoll();
        if (strcmp(how, "full") == 0)
            for (;;)
                gex_AM_RequestShort(world, 3, 201, 0);
        GASNET_BLOCKUNTIL(answered);
    }
    if (me == 3 && sleeps) {
        if (again)
            GASNET_BLOCKUNTIL(asked);
        close(open(argv[2], O_CREAT | O_WRONLY, 0600));
        sleep(60);
    }
    gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
    return finish();
}

/* Calls within calls, and messages that find no room: the first argument says which. */
#define _DEFAULT_SOURCE
#include "job.h"
#include <pthread.h>
#include <unistd.h>

#define BYTES 65536
#define LONGS 40000
#define TRIES 2000

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static volatile int received, answered, is_held;

static void locks(gex_Token_t token)
{
    gex_HSL_Lock(&lock);
    gex_HSL_Unlock(&lock);
    gex_AM_ReplyShort(token, 201, 0);
}

static void answer(gex_Token_t token)
{
    (void)token;
    answered = 1;
}

static void receive(gex_Token_t token, void *data, size_t bytes)
{
    (void)token, (void)data, (void)bytes;
    received++;
}

/* Holds the lock that the handler waits for. */
static void *hold(void *nothing)
{
    gex_HSL_Lock(&lock);
    is_held = 1;
    usleep(400000);
    gex_HSL_Unlock(&lock);
    return nothing;
}

/* PE 1 waits in an event, and in that for a lock, in a handler. */
static void in_handler(void)
{
    pthread_t thread;
    if (me == 1) {
        CHECK(pthread_create(&thread, NULL, hold, NULL) == 0);
        while (!is_held)
            ;
    }
    barrier();
    if (me == 0) {
        gex_AM_RequestShort(world, 1, 200, 0);
        GASNET_BLOCKUNTIL(answered);
    }
    barrier();
    if (me == 1)
        pthread_join(thread, NULL);
}

/* PE 0 sends what is timed each time, to a queue that is full until PE 1 wakes up. */
static void full(void)
{
    static char data[BYTES];
    char *to = segment_of(1);
    barrier();
    if (me == 0)
        for (int i = 0; i < LONGS; i++)
            gex_AM_RequestLong(world, 1, 202, data, sizeof data, to, GEX_EVENT_NOW, 0);
    if (me == 1) {
        usleep(600000);
        GASNET_BLOCKUNTIL(received == LONGS);
    }
}

/* PE 0 sends what does not wait, again and again until it is sent. */
static void immediate(void)
{
    static char data[1000];
    long tries = 0;
    if (me == 0) {
        for (int i = 0; i < TRIES; i++)
            do
                tries++;
            while (gex_AM_RequestMedium(world, 1, 202, data, sizeof data, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE));
        printf("tries: %ld\n", tries);
    }
    if (me == 1) {
        usleep(100000);
        GASNET_BLOCKUNTIL(received == TRIES);
    }
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {200, (gex_AM_Fn_t)locks, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "locks"},
        {201, (gex_AM_Fn_t)answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
        {202, (gex_AM_Fn_t)receive, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, NULL, "receive"},
    };
    const char *which = argc > 1 ? argv[1] : "";
    begin(argc, argv, table, 3, BYTES / GASNET_PAGESIZE);
    if (strcmp(which, "handler") == 0)
        in_handler();
    if (strcmp(which, "full") == 0)
        full();
    if (strcmp(which, "immediate") == 0)
        immediate();
    return finish();
}

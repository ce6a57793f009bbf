/*
 * Writes to the memory of message queues while messages go to and fro: the first argument seeds what and where. The
 * queues are found by the arguments of a message that nobody has taken out yet, which are looked for in all memory that
 * is shared.
 */
#define _GNU_SOURCE
#include "job.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC 0x5ec2e7a1
#define RING ((size_t)512 << 10)

static volatile int over;
static uint64_t state;

static void any(gex_Token_t token, void *data, size_t bytes, gex_AM_Arg_t a, gex_AM_Arg_t b, gex_AM_Arg_t c)
{
    (void)data, (void)bytes, (void)a, (void)b;
    if (c != MAGIC)
        gex_AM_ReplyShort(token, 201, 0, c);
}

static void back(gex_Token_t token, gex_AM_Arg_t a)
{
    (void)token, (void)a;
}

static uint64_t random_below(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* The entry of the message with the magic arguments. */
static uint64_t *find(void)
{
    char line[512];
    uint64_t *entry = NULL;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (entry == NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end, at;
        char shared;
        if (sscanf(line, "%lx-%lx rw-%c", &begin, &end, &shared) != 3 || shared != 's')
            continue;
        for (at = begin; at + 64 <= end && entry == NULL; at += 64) {
            unsigned char present = 1;
            const int *words = (const int *)at;
            /* Memory that nobody has touched is not looked at: looking would make it. */
            if (at % 4096 == 0 && (mincore((void *)at, 4096, &present) != 0 || !(present & 1))) {
                at += 4096 - 64;
                continue;
            }
            for (int i = 0; i + 2 < 16; i++)
                if (words[i] == MAGIC && words[i + 1] == MAGIC && words[i + 2] == MAGIC)
                    entry = (uint64_t *)at;
        }
    }
    fclose(maps);
    return entry;
}

static void *damage(void *first)
{
    uint64_t *words = (uint64_t *)first;
    while (!over) {
        uint64_t at = random_below(random_below(4) == 0 ? RING / 8 : 4096);
        static const uint64_t values[] = {0, ~(uint64_t)0, 1, 0xffff, (uint64_t)0xc9 << 32, (uint64_t)1 << 47};
        words[at] = random_below(2) ? words[at] ^ (uint64_t)1 << random_below(64) : values[random_below(6)];
        usleep((useconds_t)random_below(300));
    }
    return NULL;
}

static void give_up(int signal)
{
    (void)signal;
    gasnet_exit(7);
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {200, (gex_AM_Fn_t)any, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 3, NULL, "any"},
        {201, (gex_AM_Fn_t)back, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "back"},
    };
    static char payload[3000];
    pthread_t thread;
    uint64_t *entry;
    int i;
    begin(argc, argv, table, 2, 1);
    state = 77 + me + 1000 * (uint64_t)(argc > 1 ? atoi(argv[1]) : 0);
    signal(SIGALRM, give_up);
    alarm(5);
    /* To itself: an idle call would take it out. */
    CHECK(gex_AM_RequestMedium(world, me, 200, NULL, 0, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE, MAGIC, MAGIC, MAGIC) == 0);
    entry = find();
    CHECK(entry != NULL);
    CHECK(pthread_create(&thread, NULL, damage, entry) == 0);
    for (i = 0; i < 200000; i++) {
        gex_AM_RequestMedium(world, (gex_Rank_t)(me + 1) % size, 200, payload, random_below(sizeof payload),
                             GEX_EVENT_NOW, 0, i, i, i);
        gasnet_AMPoll();
    }
    over = 1;
    return finish();
}

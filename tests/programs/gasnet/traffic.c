/*
 * Known traffic, for what the profile says of it: from each rank to each other one, SHORTS short requests with replies,
 * MEDIUMS medium ones of 100 bytes without, a long one of 1000; PUTS puts of 64 bytes, GETS gets, ADDS fetch-adds.
 */
#include "job.h"
#include <gasnet_ratomic.h>

#define SHORTS 10
#define MEDIUMS 5
#define PUTS 7
#define GETS 3
#define ADDS 4

static volatile int replies, received;

static void ask(gex_Token_t token)
{
    gex_AM_ReplyShort(token, 201, 0);
}

static void answer(gex_Token_t token)
{
    (void)token;
    replies++;
}

static void receive(gex_Token_t token, void *data, size_t bytes)
{
    (void)token, (void)data, (void)bytes;
    received++;
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {200, (gex_AM_Fn_t)ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
        {201, (gex_AM_Fn_t)answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"},
        {202, (gex_AM_Fn_t)receive, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "receive"},
        {203, (gex_AM_Fn_t)receive, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, "receive long"},
    };
    static char data[1000];
    uint64_t before;
    gex_AD_t domain;
    gex_Rank_t rank;
    int i;
    begin(argc, argv, table, 4, 4);
    gex_AD_Create(&domain, world, GEX_DT_U64, GEX_OP_FADD, 0);
    for (rank = 0; rank < size; rank++) {
        char *there = segment_of(rank);
        if (rank == me)
            continue;
        for (i = 0; i < SHORTS; i++)
            gex_AM_RequestShort(world, rank, 200, 0);
        for (i = 0; i < MEDIUMS; i++)
            gex_AM_RequestMedium(world, rank, 202, data, 100, GEX_EVENT_NOW, 0);
        gex_AM_RequestLong(world, rank, 203, data, 1000, there + 4096 * (rank % 2), GEX_EVENT_NOW, 0);
        for (i = 0; i < PUTS; i++)
            gex_RMA_PutBlocking(world, rank, there + 8192, data, 64, 0);
        for (i = 0; i < GETS; i++)
            gex_Event_Wait(gex_RMA_GetNB(world, data, rank, there + 8192, 64, 0));
        for (i = 0; i < ADDS; i++)
            gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, rank, there + 12288, GEX_OP_FADD, 1, 0, 0));
    }
    GASNET_BLOCKUNTIL(replies == SHORTS * (int)(size - 1) && received == (MEDIUMS + 1) * (int)(size - 1));
    return finish();
}

/* Vectors, index lists and strides, both ways and in all forms; the peer is told of puts. */
#include "job.h"
#include <gasnet_vis.h>

#define N 4096
static int here[N], back[N];
static volatile int told;
static char word[] = "completion";

static void completed(gex_Token_t token, void *data, size_t bytes)
{
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_IS_REQ);
    CHECK(info.gex_srcrank == (me + size - 1) % size && !info.gex_is_req);
    CHECK(bytes == sizeof word && memcmp(data, word, bytes) == 0);
    /* What was put is there. */
    CHECK(((int *)gex_Segment_QueryAddr(segment))[size * N] == (int)info.gex_srcrank + 1000);
    told++;
}

static void begin_round(void)
{
    int i;
    for (i = 0; i < N; i++) {
        here[i] = (int)me * 100000 + i;
        back[i] = -1;
    }
}

static void vectors(gex_Rank_t peer, int *at)
{
    gex_Memvec_t local[3], remote[2], all = {back, 40 * sizeof(int)};
    int i;
    begin_round();
    for (i = 0; i < 3; i++) {
        local[i].gex_addr = here + 100 * i;
        local[i].gex_len = (size_t)(10 + 5 * i) * sizeof(int);
    }
    remote[0].gex_addr = at + 7;
    remote[0].gex_len = 5 * sizeof(int);
    remote[1].gex_addr = at + 50;
    remote[1].gex_len = 40 * sizeof(int);
    CHECK(gex_VIS_VectorPutBlocking(world, peer, 2, remote, 3, local, 0) == 0);
    all.gex_len = 45 * sizeof(int);
    gex_Event_Wait(gex_VIS_VectorGetNB(world, 1, &all, peer, 2, remote, 0));
    for (i = 0; i < 45; i++)
        CHECK(back[i] == here[i < 10 ? i : i < 25 ? 90 + i : 175 + i]);
}

static void indices(gex_Rank_t peer, int *at)
{
    void *local[8], *remote[4], *all[1];
    int i;
    begin_round();
    for (i = 0; i < 8; i++)
        local[i] = here + 11 * i;
    for (i = 0; i < 4; i++)
        remote[i] = at + 100 - 10 * i;
    CHECK(gex_VIS_IndexedPutNBI(world, peer, 4, remote, 4 * sizeof(int), 8, local, 2 * sizeof(int), 0) == 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    all[0] = back;
    CHECK(gex_VIS_IndexedGetBlocking(world, 1, all, 16 * sizeof(int), peer, 4, remote, 4 * sizeof(int), 0) == 0);
    for (i = 0; i < 16; i++)
        CHECK(back[i] == here[11 * (i / 2) + i % 2]);
}

/* A transposed and reflected block of a matrix of 64 columns. */
static void strides(gex_Rank_t peer, int *at)
{
    const ptrdiff_t rows[2] = {sizeof(int), 64 * sizeof(int)}, columns[2] = {64 * sizeof(int), -(ptrdiff_t)sizeof(int)};
    const size_t count[2] = {5, 9}, none[2] = {5, 0};
    int i, j;
    begin_round();
    gex_Event_Wait(gex_VIS_StridedPutNB(world, peer, at + 40, columns, here, rows, sizeof(int), count, 2, 0));
    CHECK(gex_VIS_StridedGetNBI(world, back, rows, peer, at + 40, columns, sizeof(int), count, 2, 0) == 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
    for (i = 0; i < 9; i++) {
        for (j = 0; j < 5; j++)
            CHECK(back[64 * i + j] == here[64 * i + j]);
    }
    CHECK(back[5] == -1);
    CHECK(gex_VIS_StridedPutBlocking(world, peer, NULL, columns, NULL, rows, sizeof(int), none, 2, 0) == 0);
    CHECK(gex_VIS_StridedGetBlocking(world, back + 2000, NULL, peer, at + 40, NULL, sizeof(int), NULL, 0, 0) == 0);
    CHECK(back[2000] == here[0]);
    /* Rows that continue each other are one run. */
    CHECK(gex_VIS_StridedPutBlocking(world, peer, at, rows, here, rows, sizeof(int), (const size_t[]){64, 64}, 2,
                                     0) == 0);
    CHECK(gex_VIS_StridedGetBlocking(world, back, rows, peer, at, rows, sizeof(int), (const size_t[]){64, 64}, 2,
                                     0) == 0);
    CHECK(memcmp(here, back, sizeof here) == 0);
}

int main(int argc, char **argv)
{
    gex_AM_Entry_t table[] = {
        {200, (gex_AM_Fn_t)completed, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "completed"}};
    gex_Rank_t peer, next;
    gex_Memvec_t from, to;
    int value = 0;
    begin(argc, argv, table, 1, 0);
    CHECK(gex_Segment_Attach(&segment, world,
                             (size * N * sizeof(int) / GASNET_PAGESIZE + 1) * GASNET_PAGESIZE) == GASNET_OK);
    barrier();
    for (peer = 0; peer < size; peer++) {
        int *at = (int *)segment_of(peer) + me * N;
        vectors(peer, at);
        indices(peer, at);
        strides(peer, at);
    }
    CHECK(GEX_VIS_MAX_PEERCOMPLETION >= 127);
    next = (me + 1) % size;
    value = (int)me + 1000;
    from.gex_addr = &value;
    to.gex_addr = (int *)segment_of(next) + size * N;
    from.gex_len = to.gex_len = sizeof value;
    gex_VIS_SetPeerCompletionHandler(200, word, 3, 0);
    gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
    /* What moves nothing, and a get, have none, and the next put none of theirs. */
    gex_VIS_SetPeerCompletionHandler(200, word, 3, 0);
    CHECK(gex_VIS_StridedPutBlocking(world, next, NULL, NULL, NULL, NULL, 0, NULL, 2, 0) == GASNET_OK);
    CHECK(gex_VIS_StridedPutBlocking(GEX_TM_INVALID, 12345, NULL, NULL, NULL, NULL, 8, (size_t[]){4, 0}, 2, 0) == 0);
    CHECK(gex_VIS_StridedGetNB(GEX_TM_INVALID, NULL, NULL, 12345, NULL, NULL, 8, (size_t[]){0}, 1, 0) == 0);
    gex_Event_Wait(gex_VIS_VectorPutNB(world, next, 1, &to, 1, &from, 0));
    gex_VIS_SetPeerCompletionHandler(200, word, 3, 0);
    gex_Event_Wait(gex_VIS_VectorGetNB(world, 1, &from, next, 1, &to, 0));
    gex_Event_Wait(gex_VIS_VectorPutNB(world, next, 1, &to, 1, &from, 0));
    gex_VIS_SetPeerCompletionHandler(200, word, sizeof word, 0);
    gex_Event_Wait(gex_VIS_VectorPutNB(world, next, 1, &to, 1, &from, 0));
    GASNET_BLOCKUNTIL(told == 1);
    return finish();
}

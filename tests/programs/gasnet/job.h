/* What the GASNet programs share: a job with a segment, checks that name the line, a barrier. */
#ifndef JOB_H
#define JOB_H

#include <gasnetex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t world;
static gex_Segment_t segment;
static gex_Rank_t me, size;

static inline void barrier(void)
{
    gex_Event_Wait(gex_Coll_BarrierNB(world, 0));
}

/* Joins the job, registers handlers, attaches a segment of some pages. */
static inline void begin(int argc, char **argv, gex_AM_Entry_t *table, size_t entries, size_t pages)
{
    CHECK(gex_Client_Init(&client, &endpoint, &world, "PROGRAM", &argc, &argv, 0) == GASNET_OK);
    me = gex_TM_QueryRank(world);
    size = gex_TM_QuerySize(world);
    if (entries > 0)
        CHECK(gex_EP_RegisterHandlers(endpoint, table, entries) == GASNET_OK);
    if (pages > 0)
        CHECK(gex_Segment_Attach(&segment, world, pages * GASNET_PAGESIZE) == GASNET_OK);
    barrier();
}

/* The address of a peer's segment. */
static inline char *segment_of(gex_Rank_t rank)
{
    void *at;
    uintptr_t bytes;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(world, rank, &at, NULL, &bytes, 0));
    CHECK(bytes > 0);
    return (char *)at;
}

static inline int finish(void)
{
    barrier();
    printf("rank %u: all is well\n", (unsigned)me);
    fflush(stdout);
    gasnet_exit(0);
    return 0;
}

#endif

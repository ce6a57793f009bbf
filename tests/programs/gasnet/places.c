/* Which PEs share memory, and which a host: how many neighbourhoods and hosts there are is what the arguments say. */
#include "job.h"

#include <gasnet.h>

/* What all know of each: its neighbourhood's and its host's number. */
static gex_Rank_t *numbers;

static void collect(gex_Rank_t neighbourhood, gex_Rank_t host)
{
    gex_Rank_t rank, mine[2] = {neighbourhood, host};
    for (rank = 0; rank < size; rank++)
        gex_RMA_PutBlocking(world, rank, segment_of(rank) + me * sizeof mine, mine, sizeof mine, 0);
    numbers = (gex_Rank_t *)segment_of(me);
    barrier();
}

/* The list has, in order, those PEs whose number is this one's, and this one at its place. */
static void list_is_right(const gex_RankInfo_t *list, gex_Rank_t count, gex_Rank_t mine, int which)
{
    gex_Rank_t rank, at = 0;
    for (rank = 0; rank < size; rank++)
        if (numbers[2 * rank + which] == numbers[2 * me + which]) {
            CHECK(at < count && list[at].gex_jobrank == rank);
            at++;
        }
    CHECK(at == count && mine < count && list[mine].gex_jobrank == me);
}

int main(int argc, char **argv)
{
    gex_RankInfo_t *near, *of_host;
    gex_Rank_t near_count, near_mine, host_count, host_mine, neighbourhoods, neighbourhood, hosts, host, i;
    gasnet_nodeinfo_t nodes[64];
    begin(argc, argv, NULL, 0, 1);
    CHECK(argc == 3 && size <= 64);
    gex_System_QueryNbrhdInfo(&near, &near_count, &near_mine);
    gex_System_QueryHostInfo(&of_host, &host_count, &host_mine);
    gex_System_QueryMyPosition(&neighbourhoods, &neighbourhood, &hosts, &host);
    gex_System_QueryMyPosition(NULL, NULL, NULL, NULL);
    CHECK((int)neighbourhoods == atoi(argv[1]) && (int)hosts == atoi(argv[2]));
    CHECK(neighbourhood < neighbourhoods && host < hosts);
    CHECK(gex_System_QueryMaxThreads() == GASNETT_MAX_THREADS);
#ifdef GASNET_SEQ
    CHECK(GASNETT_MAX_THREADS == 1);
#else
    CHECK(GASNETT_MAX_THREADS >= 256 && GASNETT_MAX_THREADS <= 4096);
#endif
    collect(neighbourhood, host);
    list_is_right(near, near_count, near_mine, 0);
    list_is_right(of_host, host_count, host_mine, 1);
    CHECK(gasnet_getNodeInfo(nodes, (int)size) == GASNET_OK);
    for (i = 0; i < size; i++)
        CHECK(nodes[i].supernode == numbers[2 * i] && nodes[i].host == numbers[2 * i + 1]);
    return finish();
}

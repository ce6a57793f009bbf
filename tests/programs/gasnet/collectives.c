/* The collectives of GASNet-1, with all flags. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define COUNT 300

static gasnet_node_t me, size;

static int *numbers(size_t count)
{
    int *at = (int *)calloc(count, sizeof(int));
    CHECK(at != NULL);
    return at;
}

static void all_of_them(int flags)
{
    size_t bytes = COUNT * sizeof(int);
    int *one = numbers(COUNT), *other = numbers(COUNT), *many = numbers(COUNT * size), *more = numbers(COUNT * size);
    gasnet_image_t root = size / 2;
    unsigned i, rank;
    for (i = 0; i < COUNT; i++)
        one[i] = (int)(me * 1000 + i);
    for (i = 0; i < COUNT * size; i++)
        many[i] = (int)(me * 100000 + i);
    gasnet_coll_broadcast(GASNET_TEAM_ALL, other, root, one, bytes, flags);
    for (i = 0; i < COUNT; i++)
        CHECK(other[i] == (int)(root * 1000 + i));
    gasnet_coll_gather(GASNET_TEAM_ALL, root, more, one, bytes, flags);
    for (i = 0; i < COUNT * size && me == root; i++)
        CHECK(more[i] == (int)(i / COUNT * 1000 + i % COUNT));
    gasnet_coll_scatter(GASNET_TEAM_ALL, other, root, many, bytes, flags);
    for (i = 0; i < COUNT; i++)
        CHECK(other[i] == (int)(root * 100000 + me * COUNT + i));
    gasnet_coll_gather_all(GASNET_TEAM_ALL, more, one, bytes, flags);
    for (i = 0; i < COUNT * size; i++)
        CHECK(more[i] == (int)(i / COUNT * 1000 + i % COUNT));
    gasnet_coll_wait_sync(gasnet_coll_exchange_nb(GASNET_TEAM_ALL, more, many, bytes, flags));
    for (rank = 0; rank < size; rank++)
        for (i = 0; i < COUNT; i++)
            CHECK(more[rank * COUNT + i] == (int)(rank * 100000 + me * COUNT + i));
    free(one), free(other), free(many), free(more);
}

int main(int argc, char **argv)
{
    static const int in[] = {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC};
    static const int out[] = {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC};
    int i, j;
    CHECK(gasnet_init(&argc, &argv) == GASNET_OK);
    me = gasnet_mynode();
    size = gasnet_nodes();
    CHECK(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) == GASNET_OK);
    gasnet_coll_init(NULL, 0, NULL, 0, 0);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            all_of_them(in[i] | out[j] | GASNET_COLL_LOCAL);
    CHECK(gasnet_barrier(7, 0) == GASNET_OK);
    printf("rank %u: all is well\n", (unsigned)me);
    fflush(stdout);
    gasnet_exit(0);
}

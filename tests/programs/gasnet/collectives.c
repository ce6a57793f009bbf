/* The collectives of GASNet-1, with all flags, of no bytes, of odd numbers and of many, and with lists of addresses. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define MOST 3001

static gasnet_node_t me, size;

static int *numbers(size_t count)
{
    int *at = (int *)calloc(count + 1, sizeof(int));
    CHECK(at != NULL);
    return at;
}

/* Each of them; every byte of a result is what the numbers of its sender and its place make of it, and what lies
 * behind it is as it was. */
static void all_of_them(size_t count, int flags)
{
    size_t bytes = count * sizeof(int), total = count * size;
    int *one = numbers(count), *other = numbers(count + 1), *many = numbers(total), *more = numbers(total + 1);
    gasnet_image_t root = size / 2;
    size_t i, rank;
    for (i = 0; i < count; i++)
        one[i] = (int)(me * 10000 + i);
    for (i = 0; i < total; i++)
        many[i] = (int)(me * 1000000 + i);
    other[count] = more[total] = -1;
    gasnet_coll_broadcast(GASNET_TEAM_ALL, other, root, one, bytes, flags);
    for (i = 0; i < count; i++)
        CHECK(other[i] == (int)(root * 10000 + i));
    gasnet_coll_gather(GASNET_TEAM_ALL, root, more, one, bytes, flags);
    for (i = 0; i < total && me == root; i++)
        CHECK(more[i] == (int)(i / count * 10000 + i % count));
    gasnet_coll_scatter(GASNET_TEAM_ALL, other, root, many, bytes, flags);
    for (i = 0; i < count; i++)
        CHECK(other[i] == (int)(root * 1000000 + me * count + i));
    gasnet_coll_gather_all(GASNET_TEAM_ALL, more, one, bytes, flags);
    for (i = 0; i < total; i++)
        CHECK(more[i] == (int)(i / count * 10000 + i % count));
    gasnet_coll_wait_sync(gasnet_coll_exchange_nb(GASNET_TEAM_ALL, more, many, bytes, flags));
    for (rank = 0; rank < size; rank++)
        for (i = 0; i < count; i++)
            CHECK(more[rank * count + i] == (int)(rank * 1000000 + me * count + i));
    CHECK(other[count] == -1 && more[total] == -1);
    free(one), free(other), free(many), free(more);
}

/* Lists name the memory of this process, or with GASNET_COLL_SINGLE that of each, of which only its own is touched. */
static void of_lists(size_t count, int flags)
{
    size_t bytes = count * sizeof(int), total = count * size, mine = flags & GASNET_COLL_SINGLE ? me : 0;
    int *one = numbers(count), *other = numbers(count), *many = numbers(total), *more = numbers(total);
    void **to = (void **)calloc(size, sizeof(void *)), **from = (void **)calloc(size, sizeof(void *));
    gasnet_image_t root = size - 1;
    size_t i, rank;
    CHECK(to != NULL && from != NULL);
    for (i = 0; i < count; i++)
        one[i] = (int)(me * 10000 + i);
    for (i = 0; i < total; i++)
        many[i] = (int)(me * 1000000 + i);
    to[mine] = other, from[mine] = one;
    gasnet_coll_broadcastM(GASNET_TEAM_ALL, to, root, one, bytes, flags);
    for (i = 0; i < count; i++)
        CHECK(other[i] == (int)(root * 10000 + i));
    gasnet_coll_gatherM(GASNET_TEAM_ALL, root, more, from, bytes, flags);
    for (i = 0; i < total && me == root; i++)
        CHECK(more[i] == (int)(i / count * 10000 + i % count));
    gasnet_coll_wait_sync(gasnet_coll_scatterM_nb(GASNET_TEAM_ALL, to, root, many, bytes, flags));
    for (i = 0; i < count; i++)
        CHECK(other[i] == (int)(root * 1000000 + me * count + i));
    to[mine] = more;
    gasnet_coll_gather_allM(GASNET_TEAM_ALL, to, from, bytes, flags);
    for (i = 0; i < total; i++)
        CHECK(more[i] == (int)(i / count * 10000 + i % count));
    from[mine] = many;
    gasnet_coll_exchangeM(GASNET_TEAM_ALL, to, from, bytes, flags);
    for (rank = 0; rank < size; rank++)
        for (i = 0; i < count; i++)
            CHECK(more[rank * count + i] == (int)(rank * 1000000 + me * count + i));
    free(one), free(other), free(many), free(more), free(to), free(from);
}

/* Barriers of teams beside that of the job, each with its own name, and each once a time only. */
static void barriers_of_teams(void)
{
    gex_TM_t all, half;
    int id, result, expected, i;
    gasnet_QueryGexObjects(NULL, NULL, &all, NULL);
    CHECK(all == GASNET_TEAM_ALL);
    gex_TM_Split(&half, all, (int)(me % 2), (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    for (i = 0; i < 20; i++) {
        gasnet_coll_barrier_notify(half, (int)(me % 2), 0);
        gasnet_coll_barrier_notify(GASNET_TEAM_ALL, i, GASNET_BARRIERFLAG_UNNAMED);
        if (me % 2 == 0)
            CHECK(gasnet_barrier_wait(i, GASNET_BARRIERFLAG_UNNAMED) == GASNET_OK);
        while ((result = gasnet_coll_barrier_try(half, (int)(me % 2), 0)) == GASNET_ERR_NOT_READY)
            ;
        CHECK(result == GASNET_OK);
        CHECK(gasnet_coll_barrier_result(half, &id) == 0 && id == (int)(me % 2));
        if (me % 2 == 1)
            CHECK(gasnet_coll_barrier_wait(all, 77, GASNET_BARRIERFLAG_UNNAMED) == GASNET_OK);
        CHECK(gasnet_barrier_result(&id) != 0);
    }
    expected = gex_TM_QuerySize(half) > 1 ? GASNET_ERR_BARRIER_MISMATCH : GASNET_OK;
    CHECK(gasnet_coll_barrier(half, (int)me, 0) == expected);
    CHECK(gasnet_coll_barrier(half, 4, GASNET_BARRIERFLAG_ANONYMOUS | GASNET_BARRIERFLAG_IMAGES) == GASNET_OK);
    CHECK(gex_TM_Destroy(half, NULL, 0) == 0);
}

int main(int argc, char **argv)
{
    static const int in[] = {GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC};
    static const int out[] = {GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC};
    static const size_t counts[] = {0, 1, 3, 300, MOST};
    int i, j, k;
    CHECK(gasnet_init(&argc, &argv) == GASNET_OK);
    me = gasnet_mynode();
    size = gasnet_nodes();
    CHECK(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) == GASNET_OK);
    gasnet_coll_init(NULL, 0, NULL, 0, 0);
    for (i = 0; i < 3; i++)
        for (j = 0; j < 3; j++)
            for (k = 0; k < 5; k++) {
                all_of_them(counts[k], in[i] | out[j] | GASNET_COLL_LOCAL);
                of_lists(counts[k], in[i] | out[j] | (k % 2 ? GASNET_COLL_SINGLE : GASNET_COLL_LOCAL));
            }
    barriers_of_teams();
    CHECK(gasnet_barrier(7, 0) == GASNET_OK);
    printf("rank %u: all is well\n", (unsigned)me);
    fflush(stdout);
    gasnet_exit(0);
}

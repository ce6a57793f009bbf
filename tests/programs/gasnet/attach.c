/* A segment that is too large on one PE is refused on all, which then attach a smaller one. The first argument is the
 * size of the largest one. OpenSHMEM has memory beside it. */
#include "job.h"
#include <shmem.h>
#include <sys/resource.h>

#define BESIDE ((size_t)30 << 20)
#define MANY 400000
/* KiB that so many segments may take: 10 bytes each. */
#define GROWTH 4000

static long resident(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

/* What was destroyed is used again. */
static void again_and_again(void)
{
    static char memory[64];
    long before = resident();
    for (int i = 0; i < MANY; i++) {
        gex_Segment_t made;
        CHECK(gex_Segment_Create(&made, client, memory, 1 + i % sizeof memory, GEX_MK_HOST, 0) == GASNET_OK);
        CHECK(gex_Segment_QueryAddr(made) == memory && gex_Segment_QuerySize(made) == 1 + i % sizeof memory);
        CHECK(gex_Segment_QueryCData(made) == NULL);
        gex_Segment_SetCData(made, memory);
        gex_Segment_Destroy(made, 0);
    }
    CHECK(resident() - before < GROWTH);
}

int main(int argc, char **argv)
{
    uintptr_t room;
    begin(argc, argv, NULL, 0, 0);
    room = gasnet_getMaxLocalSegmentSize();
    CHECK(argc < 2 || room == strtoull(argv[1], NULL, 10));
    CHECK(gex_Segment_Attach(&segment, world, me == size - 1 ? room + GASNET_PAGESIZE : GASNET_PAGESIZE) ==
          GASNET_ERR_RESOURCE);
    CHECK(gasnet_getMaxLocalSegmentSize() == room);
    CHECK(gex_Segment_Attach(&segment, world, room) == GASNET_OK);
    gex_RMA_PutBlockingVal(world, (me + 1) % size, segment_of((me + 1) % size), 7, 1, 0);
    barrier();
    CHECK(*segment_of(me) == 7);
    CHECK(shmem_malloc(BESIDE) != NULL);
    again_and_again();
    return finish();
}

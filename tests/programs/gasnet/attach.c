/* A segment that is too large on one PE is refused on all, which then attach a smaller one. The first argument is the
 * size of the largest one. OpenSHMEM has memory beside it. */
#include "job.h"
#include <shmem.h>

#define BESIDE ((size_t)30 << 20)

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
    return finish();
}

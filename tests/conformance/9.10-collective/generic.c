/* 9.10 in C11, and by the overloads of C++: the type-generic collectives; shmem_sync takes a team or, deprecated, an
 * active set.
 * pes: 2
 * cflags: -std=gnu11
 * also: c++
 * needs: shmem_long_broadcast shmem_long_sum_reduce shmem_team_sync
 */
#include <complex.h>

#include "check.h"

//@each shmem_TYPENAME_broadcast
static void moves_TYPENAME(void) {
    static TYPE source[4], dest[8];
    for (int k = 0; k < 4; k++) source[k] = (TYPE)(k + 1 + me * 4);
    CHECK_EQ(shmem_sync(SHMEM_TEAM_WORLD), 0);
    CHECK_EQ(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, 4, 1), 0);
    CHECK(dest[0] == (TYPE)5 && dest[3] == (TYPE)8);
    shmem_barrier_all();
#ifdef HAVE_shmem_TYPENAME_fcollect
    const TYPE *readable = source;
    CHECK_EQ(shmem_fcollect(SHMEM_TEAM_WORLD, dest, readable, 4), 0);
    CHECK(dest[0] == (TYPE)1 && dest[7] == (TYPE)8);
    shmem_barrier_all();
    CHECK_EQ(shmem_collect(SHMEM_TEAM_WORLD, dest, readable, (size_t)me + 1), 0);
    CHECK(dest[0] == (TYPE)1 && dest[1] == (TYPE)5 && dest[2] == (TYPE)6);
    shmem_barrier_all();
#endif
#ifdef HAVE_shmem_TYPENAME_alltoall
    CHECK_EQ(shmem_alltoall(SHMEM_TEAM_WORLD, dest, source, 2), 0);
    CHECK(dest[0] == (TYPE)(1 + 2 * me) && dest[2] == (TYPE)(5 + 2 * me));
    shmem_barrier_all();
    CHECK_EQ(shmem_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 1, 2), 0);
    CHECK(dest[0] == (TYPE)(1 + 2 * me) && dest[4] == (TYPE)(5 + 2 * me));
    shmem_barrier_all();
#endif
}
//@end
//@each shmem_TYPENAME_max_reduce
static void order_TYPENAME(void) {
    static TYPE source, dest;
    source = (TYPE)(me + 3);
    shmem_barrier_all();
    CHECK_EQ(shmem_max_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == (TYPE)4);
    shmem_barrier_all();
    CHECK_EQ(shmem_min_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == (TYPE)3);
    shmem_barrier_all();
}
//@end
//@each shmem_TYPENAME_sum_reduce
static void sums_TYPENAME(void) {
    static TYPE source, dest;
    source = (TYPE)(me + 3);
    shmem_barrier_all();
    CHECK_EQ(shmem_sum_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == (TYPE)7);
    shmem_barrier_all();
#ifdef HAVE_shmem_TYPENAME_prod_reduce
    CHECK_EQ(shmem_prod_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == (TYPE)12);
    shmem_barrier_all();
#endif
#ifdef HAVE_shmem_TYPENAME_sum_inscan
    CHECK_EQ(shmem_sum_inscan(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == (me ? (TYPE)7 : (TYPE)3));
    shmem_barrier_all();
    CHECK_EQ(shmem_sum_exscan(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == (me ? (TYPE)3 : (TYPE)0));
    shmem_barrier_all();
#endif
}
//@end
//@each shmem_TYPENAME_and_reduce
static void bits_TYPENAME(void) {
    static TYPE source, dest;
    source = (TYPE)(me + 5);
    shmem_barrier_all();
    CHECK_EQ(shmem_and_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == 4);
    shmem_barrier_all();
    CHECK_EQ(shmem_or_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == 7);
    shmem_barrier_all();
    CHECK_EQ(shmem_xor_reduce(SHMEM_TEAM_WORLD, &dest, &source, 1), 0);
    CHECK(dest == 3);
    shmem_barrier_all();
}
//@end

int main(void) {
    begin();
//@each shmem_TYPENAME_broadcast
    moves_TYPENAME();
//@end
//@each shmem_TYPENAME_max_reduce
    order_TYPENAME();
//@end
//@each shmem_TYPENAME_sum_reduce
    sums_TYPENAME();
//@end
//@each shmem_TYPENAME_and_reduce
    bits_TYPENAME();
//@end
#ifdef HAVE_shmem_sync
    static long work[SHMEM_SYNC_SIZE];
    for (int k = 0; k < SHMEM_SYNC_SIZE; k++) work[k] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    shmem_sync(0, 0, npes, work);
    (shmem_sync)(0, 0, npes, work);
#endif
    return end();
}

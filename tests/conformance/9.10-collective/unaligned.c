/* 9.10: the mem forms move bytes: any alignment of source and dest, and sizes that are no multiple of anything.
 * pes: 1 2 3 4 7
 * needs: shmem_broadcastmem shmem_collectmem shmem_fcollectmem shmem_alltoallmem shmem_alltoallsmem shmem_malloc
 */
#include "teams.h"

enum { MOST = 5003 };

static const size_t sizes[] = {1, 2, 3, 5, 7, 9, 15, 31, 63, 100, 257, 1023, 4097, 5003};

static unsigned char given(int pe, size_t k) { return (unsigned char)(mix((uint64_t)pe * 100003 + k)); }

int main(void) {
    begin();
    open_teams();
    size_t room = (size_t)MOST * (size_t)npes * 2 + 64;
    unsigned char *from = symmetric(room), *to = symmetric(room);
    FOR_EACH_TEAM(team) {
        size_t size = (size_t)team->size, number = (size_t)team->number;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = sizes[s];
            unsigned char *source = from + s % 8, *dest = to + (s * 3) % 8;
            int root = (int)(s % size);
            for (size_t k = 0; k < n * size; k++) source[k] = given(me, k);
            memset(to, 0xee, room);
            sync_team(team);
#define EXPECT(count, value, what)                                                                                     \
    do {                                                                                                               \
        size_t count_ = count;                                                                                         \
        for (size_t k = 0; k < count_; k++)                                                                            \
            CHECKF(dest[k] == (value), "%s of %zu bytes, team %s: byte %zu", what, n, team->name, k);                  \
        CHECKF(dest[count_] == 0xee && (dest == to || dest[-1] == 0xee), "%s of %zu bytes: beyond its ends", what, n); \
        sync_team(team);                                                                                               \
        memset(to, 0xee, room);                                                                                        \
        sync_team(team);                                                                                               \
    } while (0)
            CHECK_EQ(shmem_broadcastmem(team->handle, dest, source, n, root), 0);
            EXPECT(n, given(team->world[root], k), "broadcastmem");
            CHECK_EQ(shmem_fcollectmem(team->handle, dest, source, n), 0);
            EXPECT(n * size, given(team->world[k / n], k % n), "fcollectmem");
            CHECK_EQ(shmem_collectmem(team->handle, dest, source, n), 0);
            EXPECT(n * size, given(team->world[k / n], k % n), "collectmem");
            CHECK_EQ(shmem_alltoallmem(team->handle, dest, source, n), 0);
            EXPECT(n * size, given(team->world[k / n], number * n + k % n), "alltoallmem");
            CHECK_EQ(shmem_alltoallsmem(team->handle, dest, source, 2, 1, n), 0);
            for (size_t k = 0; k < n * size; k++) {
                CHECKF(dest[2 * k] == given(team->world[k / n], number * n + k % n), "alltoallsmem of %zu: byte %zu",
                       n, k);
                CHECKF(dest[2 * k + 1] == 0xee, "alltoallsmem of %zu: between bytes %zu", n, k);
            }
            sync_team(team);
        }
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

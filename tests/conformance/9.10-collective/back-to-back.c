/* 9.10: thousands of small collectives back to back, with no synchronization between, each on its own slots, on
 * changing teams; a fast PE must not run into a slow one's collective.
 * pes: 1 2 3 4 7 16
 * limit: 100
 * needs: shmem_malloc shmem_long_broadcast shmem_long_sum_reduce shmem_long_max_reduce
 */
#include "teams.h"

enum { SLOTS = 64 };

int main(void) {
    begin();
    open_teams();
    long *source = symmetric(SLOTS * sizeof(long)), *dest = symmetric(SLOTS * sizeof(long));
    uint64_t state = 99, mine = (uint64_t)me + 1;
    int rounds = npes > 4 ? 40 : 200;
    for (int round = 0; round < rounds; round++) {
        for (int s = 0; s < SLOTS; s++) source[s] = (long)(mix((uint64_t)(round * 1000 + s * 64 + me)) % 100000);
        shmem_barrier_all();
        for (int s = 0; s < SLOTS; s++) {
            uint64_t choice = draw(&state);
            const team_t *team = &teams[choice % (uint64_t)nteams];
            int kind = (int)(choice / 64 % 3), root = (int)(choice / 1024 % (uint64_t)team->size);
            if (team->number < 0) continue;
            if (draw(&mine) % 16 == 0) for (volatile int spin = 0; spin < 3000; spin++) {}
            long expected = kind == 2 ? -1 : 0;
            for (int pe = 0; pe < team->size; pe++) {
                long value = (long)(mix((uint64_t)(round * 1000 + s * 64 + team->world[pe])) % 100000);
                if (kind == 0) expected += value;
                if (kind == 1 && pe == root) expected = value;
                if (kind == 2 && value > expected) expected = value;
            }
            switch (kind) {
            case 0: CHECK_EQ(shmem_long_sum_reduce(team->handle, &dest[s], &source[s], 1), 0); break;
            case 1: CHECK_EQ(shmem_long_broadcast(team->handle, &dest[s], &source[s], 1, root), 0); break;
            case 2: CHECK_EQ(shmem_long_max_reduce(team->handle, &dest[s], &source[s], 1), 0); break;
            }
            CHECKF(dest[s] == expected, "round %d, slot %d, kind %d, team %s: %ld, expected %ld", round, s, kind,
                   team->name,
                   dest[s], expected);
        }
    }
    shmem_barrier_all();
    close_teams();
    return end();
}

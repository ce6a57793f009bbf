/* 9.10.1, 9.10.3, 9.10.4: nobody leaves barrier_all, sync_all or team_sync before all have come, over many rounds; a
 * barrier completes the default context on all PEs.
 * pes: 1 2 3 4 7 16
 * needs: shmem_barrier_all shmem_sync_all shmem_malloc
 */
#include "teams.h"

static long arrived[64], word;

int main(void) {
    begin();
    open_teams();
    int rounds = npes > 4 ? 200 : 2000;
    /* Each PE stores its round in every other PE's memory, then synchronizes: all have that round. */
    for (long round = 1; round <= rounds; round++) {
        for (int pe = 0; pe < npes; pe++) shmem_long_p(&arrived[me], round, pe);
        switch (round % 3) {
        case 0: shmem_barrier_all(); break;
        case 1: shmem_quiet(); shmem_sync_all(); break;
#ifdef HAVE_shmem_team_sync
        case 2: shmem_quiet(); CHECK_EQ(shmem_team_sync(SHMEM_TEAM_WORLD), 0); break;
#else
        case 2: shmem_barrier_all(); break;
#endif
        }
        for (int pe = 0; pe < npes; pe++)
            CHECKF(arrived[pe] == round || arrived[pe] == round + 1, "round %ld: PE %d at %ld", round, pe, arrived[pe]);
    }
    shmem_barrier_all();
    /* Uneven arrival: a late PE holds all. */
    for (int late = 0; late < npes; late++) {
        word = 0;
        shmem_barrier_all();
        if (me == late) {
            usleep(5000);
            for (int pe = 0; pe < npes; pe++) shmem_long_p(&word, late + 1, pe);
        }
        shmem_barrier_all();
        CHECK_EQ(word, late + 1);
        shmem_barrier_all();
    }
#ifdef HAVE_shmem_team_sync
    static long team_word[MAX_TEAMS];
    FOR_EACH_TEAM(team) {
        long *mine = &team_word[team - teams];
        for (int round = 0; round < 50; round++) {
            if (team->number == round % team->size)
                for (int k = 0; k < team->size; k++) shmem_long_atomic_inc(mine, team->world[k]);
            shmem_quiet();
            CHECK_EQ(shmem_team_sync(team->handle), 0);
            CHECKF(*mine >= round + 1, "team %s, round %d: %ld", team->name, round, *mine);
            CHECK_EQ(shmem_team_sync(team->handle), 0);
        }
    }
#endif
    shmem_barrier_all();
    close_teams();
    return end();
}

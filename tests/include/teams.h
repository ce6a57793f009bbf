/* Teams to try collectives on. A team here knows its members' world numbers by construction, not from the library. */
#ifndef TEAMS_H
#define TEAMS_H

#include "check.h"

typedef struct {
    shmem_team_t handle;
    const char *name;
    int size;        /* members */
    int number;      /* of this PE, -1 where it is no member */
    int world[64];   /* world PE of each member */
} team_t;

enum { MAX_TEAMS = 8 };
static team_t teams[MAX_TEAMS];
static int nteams;

static void describe_team(const char *name, shmem_team_t handle, int start, int stride, int size) {
    team_t *team = &teams[nteams++];
    team->handle = handle;
    team->name = name;
    team->size = size;
    team->number = -1;
    CHECK(size <= 64);
    for (int k = 0; k < size; k++) {
        team->world[k] = start + k * stride;
        if (team->world[k] == me) team->number = k;
    }
}

#ifdef HAVE_shmem_team_split_strided
static void split_team(const char *name, int start, int stride, int size) {
    if (size < 1) return;
    shmem_team_t handle;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &handle), 0);
    describe_team(name, handle, start, stride, size);
}
#endif

/* World, and where this build can split: reversed world, even PEs, all but PE 0; for jobs that are not larger than the
 * machine also shared, odd PEs backwards, the last. */
static void open_teams(void) {
    nteams = 0;
    describe_team("world", SHMEM_TEAM_WORLD, 0, 1, npes);
#ifdef HAVE_shmem_team_split_strided
    split_team("reversed", npes - 1, -1, npes);
    split_team("even", 0, 2, (npes + 1) / 2);
    split_team("all but PE 0", 1, 1, npes - 1);
    if (npes > 7) return;
    split_team("odd backwards", npes % 2 ? npes - 2 : npes - 1, -2, npes / 2);
    split_team("the last", npes - 1, 1, 1);
    describe_team("shared", SHMEM_TEAM_SHARED, host_first(), 1, host_size());
#endif
}

static void close_teams(void) {
#ifdef HAVE_shmem_team_destroy
    for (int t = 0; t < nteams; t++) {
        bool made = teams[t].handle != SHMEM_TEAM_WORLD && teams[t].handle != SHMEM_TEAM_SHARED;
        if (made && teams[t].number >= 0) shmem_team_destroy(teams[t].handle);
    }
#endif
    nteams = 0;
}

/* Synchronizes the members. */
static void sync_team(const team_t *team) {
#ifdef HAVE_shmem_team_sync
    CHECK_EQ(shmem_team_sync(team->handle), 0);
#else
    shmem_sync_all();
#endif
}

/* Calls `body` for each team that this PE belongs to. */
#define FOR_EACH_TEAM(team)                                                                                            \
    for (const team_t *team = teams; team < teams + nteams; team++)                                                    \
        if (team->number >= 0)

#endif

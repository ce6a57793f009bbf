/* PE 1 finalizes, or returns without, while the others make a collective call: the first argument says which. */
#include <fcntl.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long from[2], to[2], wrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE], work[SHMEM_REDUCE_SYNC_SIZE];

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    shmem_init();
    int one = shmem_my_pe() == 1;
    shmem_team_t all = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &all);
    /* All but the last PE. */
    int size = shmem_n_pes() - 1;
    shmem_team_t part = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &part);
    if (part != SHMEM_TEAM_INVALID) shmem_team_sync(part);
    if (shmem_my_pe() < size) shmem_barrier(0, 0, size, work);
    if (strcmp(what, "again") == 0) {
        shmem_finalize();
        shmem_init();
        shmem_barrier_all();
    }
    if (strcmp(what, "nested") == 0) shmem_init();
    shmemx_file_t file = SHMEMX_FILE_INVALID;
    shmemx_req_h request = SHMEMX_REQ_INVALID;
    if (strncmp(what, "file", 4) == 0) shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/zero", O_RDONLY, 0, &file);
    if (one && strcmp(what, "return") == 0) return 0;
    if (one) shmem_finalize();
    else if (strcmp(what, "sum") == 0) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 2);
    else if (strcmp(what, "team") == 0) shmem_team_sync(all);
    /* The last PE waits for nobody. */
    else if (shmem_my_pe() == size && (strncmp(what, "part", 4) == 0 || strncmp(what, "set", 3) == 0)) for (;;) pause();
    else if (strcmp(what, "part") == 0) shmem_team_sync(part);
    else if (strcmp(what, "part-sum") == 0) shmem_long_sum_reduce(part, to, from, 2);
    else if (strcmp(what, "set") == 0) shmem_barrier(0, 0, size, work);
    else if (strcmp(what, "set-sum") == 0) shmem_long_sum_to_all(to, from, 2, 0, 0, size, wrk, work);
    else if (strcmp(what, "malloc") == 0) shmem_malloc(64);
    else if (strcmp(what, "sync") == 0) shmem_sync_all();
    else if (strcmp(what, "file") == 0) shmemx_file_sync(file);
    else if (strcmp(what, "file-read") == 0) shmemx_file_read_at_all(file, to, sizeof to, 0);
    else if (strcmp(what, "file-nb") == 0) shmemx_file_read_at_all_nb(file, to, sizeof to, 0, &request);
    else if (strcmp(what, "sum-nb") == 0) shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, to, from, 2, &request);
    else shmem_barrier_all();
    shmemx_req_wait(&request);
    printf("went on\n");
    if (!one) shmem_finalize();
    return 0;
}

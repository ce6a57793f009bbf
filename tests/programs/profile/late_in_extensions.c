/* PE 1 comes late to calls of all PEs that are no barriers and no collectives of the specification. */
#include <fcntl.h>
#include <shmem.h>
#include <shmemx.h>
#include <unistd.h>

static long buffer[8];

int main(int argc, char **argv)
{
    shmem_init();
    int me = shmem_my_pe();
    shmemx_file_t file;
    shmem_team_t team;
    if (argc < 2 || shmemx_file_open(SHMEM_TEAM_WORLD, argv[1], O_CREAT | O_RDWR, 0600, &file) != 0)
        shmem_global_exit(2);
    for (int i = 0; i < 3; i++) {
        if (me == 1)
            usleep(50000);
        shmemx_file_write_at_all(file, buffer, sizeof buffer, (off_t)sizeof buffer * me);
        if (me == 1)
            usleep(50000);
        shmemx_team_shrink(SHMEM_TEAM_WORLD, &team);
        shmem_team_destroy(team);
    }
    shmemx_file_close(file);
    shmem_finalize();
    return 0;
}

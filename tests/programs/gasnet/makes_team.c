/* A team that all make, of whom rank 1 comes late. */
#define _DEFAULT_SOURCE
#include "job.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    static char scratch[4096];
    void *places[] = {scratch};
    gex_EP_Location_t members[] = {{0, 0}, {1, 0}};
    gex_TM_t team;
    begin(argc, argv, NULL, 0, 1);
    if (me == 1)
        usleep(300000);
    gex_TM_Create(&team, 1, world, members, 2, places, sizeof scratch, GEX_FLAG_TM_LOCAL_SCRATCH);
    return finish();
}

/* Regions that begin before there is a profile: they are not in it, and their ends are no mistake. */
#include <shmem.h>
#include <shmemx.h>
#include <stddef.h>

static void in(const char *name)
{
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, name);
}

static void out(const char *name)
{
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, name);
}

int main(void)
{
    in("setup");
    out("setup");
    in("outer");
    in("inner");
    shmem_init();
    in("step");
    shmem_barrier_all();
    out("step");
    out("inner");
    in("step");
    shmem_barrier_all();
    out(NULL);
    out("outer");
#ifdef WRONG
    out("outer");
#endif
    shmem_finalize();
    return 0;
}

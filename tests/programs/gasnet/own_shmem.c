/*
 * A client that is an OpenSHMEM library itself, with names of its own that Pellucid has, too: the library, with
 * -DPROFILED that with a profiling interface, or with -DPROGRAM what is linked with it.
 */
#include <stdio.h>

void shmem_init(void);
void pshmem_init(void);
int shmem_my_pe(void);
int shmem_n_pes(void);
void shmem_finalize(void);

#ifdef PROGRAM
int main(void)
{
    shmem_init();
    if (shmem_my_pe() < 1000 || shmem_my_pe() >= 1000 + shmem_n_pes())
        return 1;
    printf("rank %d: all is well\n", shmem_my_pe() - 1000);
    fflush(stdout);
    shmem_finalize();
    return 1;
}
#else
#include <gasnet.h>

void shmem_init(void)
{
    if (gasnet_init(NULL, NULL) != GASNET_OK || gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK)
        gasnet_exit(2);
}

#ifdef PROFILED
void pshmem_init(void)
{
    shmem_init();
}
#endif

/* Numbers that Pellucid's have not. */
int shmem_my_pe(void)
{
    return (int)gasnet_mynode() + 1000;
}

int shmem_n_pes(void)
{
    return (int)gasnet_nodes();
}

void shmem_finalize(void)
{
    gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
    gasnet_exit(0);
}
#endif

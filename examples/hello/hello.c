/*
 * hello: every PE says who it is and signs a guest book on PE 0.
 *
 *     oshcc hello.c -o hello && oshrun -n 4 ./hello
 */
#define _POSIX_C_SOURCE 200809L

#include <shmem.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_PES 4096

/* A static object is symmetric: it has a counterpart on every PE, at the same place in the program. */
static int guest_book[MAX_PES];

int main(void)
{
    shmem_init();

    int me = shmem_my_pe();
    int npes = shmem_n_pes();
    if (npes > MAX_PES) {
        if (me == 0)
            fprintf(stderr, "hello: %d PEs, the guest book has room for %d\n", npes, MAX_PES);
        shmem_global_exit(1);
    }

    int major, minor;
    char library[SHMEM_MAX_NAME_LEN];
    char host[256] = "unknown host";
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(library);
    gethostname(host, sizeof host - 1);
    printf("hello from PE %d of %d on %s (OpenSHMEM %d.%d, %s)\n", me, npes, host, major, minor, library);
    fflush(stdout);

    /* One-sided: PE 0 does nothing for these writes to arrive. The barrier completes them. */
    shmem_int_p(&guest_book[me], me + 1, 0);
    shmem_barrier_all();

    if (me == 0) {
        for (int pe = 0; pe < npes; pe++) {
            if (guest_book[pe] != pe + 1) {
                fprintf(stderr, "hello: FAILED: PE %d left %d in the guest book, expected %d\n", pe, guest_book[pe],
                        pe + 1);
                shmem_global_exit(1);
            }
        }
        printf("hello: OK, all %d PEs signed\n", npes);
    }

    shmem_finalize();
    return 0;
}

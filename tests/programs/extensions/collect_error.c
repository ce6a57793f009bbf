/* One member's dest in a collect is no symmetric object: it gets an error, the others their data, and later collectives
 * of the team are as ever. */
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };
static char dest[16 * MOST], source[MOST];
static long sum, one = 1;

int main(void) {
    char private[16 * MOST];
    shmem_init();
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, SHMEMX_ERRORS_RETURN, NULL);
    shmemx_errhandler_set(SHMEM_TEAM_WORLD, SHMEMX_ERRORS_RETURN, NULL);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    memset(source, 'a' + me, sizeof source);
    for (int round = 0; round < 60; round++) {
        int errs = round % 3 == 0 && me == 1, each = round % 2 ? MOST : 8;
        memset(dest, 0, sizeof dest);
        int code = shmem_char_collect(SHMEM_TEAM_WORLD, errs ? private : dest, source, each);
        if (errs ? code != SHMEMX_ERROR_ADDRESS : code != 0) return printf("PE %d: %d: %d\n", me, round, code), 1;
        if (!errs && dest[npes * each - 1] != 'a' + npes - 1) return printf("PE %d: %d: wrong\n", me, round), 2;
        if (round % 5 != 0) continue;
        sum = 0;
        code = shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
        if (code != 0 || sum != npes) return printf("PE %d: round %d: %d, sum %ld\n", me, round, code, sum), 3;
    }
    shmem_finalize();
    return 0;
}

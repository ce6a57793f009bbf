/* Calls whose arguments travel in ways of their own, with the profile off and on: `long double` by value, a variable
 * argument list, complex numbers. */
#include <complex.h>
#include <pshmem.h>
#include <shmem.h>
#include <stdio.h>

static long double ld, lds[3] = {1.5L, -2.25L, 1e4000L}, ldr[3];
static double _Complex z[2] = {1.0 + 2.0 * I, -3.0}, zr[2];
static long l;
static float f;

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
        shmem_global_exit(1); \
    } \
} while (0)

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    char name[SHMEM_MAX_NAME_LEN];
    shmem_info_get_name(name);
    CHECK(name[0] == 'P');
    for (int round = 0; round < 300; round++) {
        shmem_longdouble_p(&ld, 3.0625L + round, me);
        CHECK(shmem_longdouble_g(&ld, me) == 3.0625L + round);
        shmem_ctx_longdouble_p(SHMEM_CTX_DEFAULT, &ld, 1e-4000L, me);
        CHECK(shmem_ctx_longdouble_g(SHMEM_CTX_DEFAULT, &ld, me) == 1e-4000L);
        pshmem_longdouble_p(&ld, -0.5L, me);
        CHECK(pshmem_longdouble_g(&ld, me) == -0.5L);
        shmem_p(&ld, 7.0L, me);
        CHECK(shmem_g(&ld, me) == 7.0L);
        shmem_float_p(&f, 1.25f, me);
        CHECK(shmem_float_g(&f, me) == 1.25f);
        shmem_long_atomic_add(&l, 2, me);
        if (round == 100)
            shmem_pcontrol(0);
        if (round == 200)
            shmem_pcontrol(1, "with", 2.0, "more arguments");
    }
    CHECK(shmem_long_atomic_fetch(&l, me) == 600);
    CHECK(shmem_longdouble_max_reduce(SHMEM_TEAM_WORLD, ldr, lds, 3) == 0);
    CHECK(ldr[0] == 1.5L && ldr[1] == -2.25L && ldr[2] == 1e4000L);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, zr, z, 2) == 0);
    CHECK(zr[0] == 1.0 + 2.0 * I && zr[1] == -3.0);
    shmem_finalize();
    puts("done");
    return 0;
}

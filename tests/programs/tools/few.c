/* A tool that overrides a few routines, counts and forwards. NAME tells several of them apart; it is linked to
 * nothing. */
#include <pshmem.h>
#include <stdio.h>

static long puts_seen, p_seen, mem_seen, barriers_seen, reductions_seen, strided_seen, own;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_long_p(long *dest, long value, int pe) {
    p_seen++;
    pshmem_long_p(dest, value, pe);
}

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe) {
    mem_seen++;
    /* Calls of its own, through both names, of routines that it has and that it has not: nobody else's business. */
    own += shmem_my_pe() + pshmem_n_pes();
    shmem_fence();
    pshmem_putmem(dest, source, nelems, pe);
}

void shmem_longdouble_p(long double *dest, long double value, int pe) {
    own += value == 2.5L;
    pshmem_longdouble_p(dest, value, pe);
}

long double shmem_longdouble_g(const long double *source, int pe) { return pshmem_longdouble_g(source, pe); }

void shmem_ctx_long_ibput(shmem_ctx_t ctx, long *dest, const long *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,
                          size_t nblocks, int pe) {
    strided_seen++;
    pshmem_ctx_long_ibput(ctx, dest, source, dst, sst, bsize, nblocks, pe);
}

void shmem_barrier_all(void) {
    barriers_seen++;
    pshmem_barrier_all();
}

int shmem_long_sum_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce) {
    reductions_seen++;
    return pshmem_long_sum_reduce(team, dest, source, nreduce);
}

void shmem_finalize(void) {
    pshmem_barrier_all();
    printf("%s on %d: put %ld p %ld mem %ld barrier %ld reduce %ld ibput %ld\n", NAME, pshmem_my_pe(), puts_seen,
           p_seen, mem_seen, barriers_seen, reductions_seen, strided_seen);
    fflush(stdout);
    pshmem_finalize();
}

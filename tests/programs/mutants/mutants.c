/* A wrong library: one routine, chosen by -DMUTANT_name, is replaced by a wrong one. Loaded before the right library,
 * it must make the conformance program fail that tests/suites/mutants.rs names. */
#include <pshmem.h>
#include <shmemx.h>
#include <string.h>
#include <unistd.h>

#ifdef MUTANT_put_short
void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    pshmem_long_put(dest, source, nelems - (nelems == 129), pe);
}
#endif
#ifdef MUTANT_put_long
void shmem_put16(void *dest, const void *source, size_t nelems, int pe) {
    pshmem_put16(dest, source, nelems + (nelems > 2), pe);
}
#endif
#ifdef MUTANT_get_nbi_never
void shmem_ctx_double_get_nbi(shmem_ctx_t ctx, double *dest, const double *source, size_t nelems, int pe) {}
#endif
#ifdef MUTANT_p_elsewhere
void shmem_short_p(short *dest, short value, int pe) { pshmem_short_p(dest + 1, value, pe); }
#endif
#ifdef MUTANT_g_own
float shmem_float_g(const float *source, int pe) { return *source; }
#endif
#ifdef MUTANT_iput_dense
void shmem_int_iput(int *dest, const int *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe) {
    pshmem_int_iput(dest, source, 1, sst, nelems, pe);
}
#endif
#ifdef MUTANT_ibget_gap
void shmem_ibget64(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks, int pe) {
    pshmem_ibget64(dest, source, dst, (ptrdiff_t)bsize, bsize, nblocks, pe);
}
#endif
#ifdef MUTANT_fetch_inc_torn
long shmem_long_atomic_fetch_inc(long *dest, int pe) {
    long old = pshmem_long_g(dest, pe);
    if (old % 64 == 0) usleep(200); /* Others run meanwhile, however busy the machine is. */
    pshmem_long_p(dest, old + 1, pe);
    pshmem_quiet();
    return old;
}
#endif
#ifdef MUTANT_cswap_always
unsigned int shmem_uint_atomic_compare_swap(unsigned int *dest, unsigned int cond, unsigned int value, int pe) {
    return pshmem_uint_atomic_swap(dest, value, pe);
}
#endif
#ifdef MUTANT_fetch_or_new
uint64_t shmem_uint64_atomic_fetch_or(uint64_t *dest, uint64_t value, int pe) {
    return pshmem_uint64_atomic_fetch_or(dest, value, pe) | value;
}
#endif
#ifdef MUTANT_swap_loses_sign
double shmem_double_atomic_swap(double *dest, double value, int pe) { return pshmem_double_atomic_swap(dest,
    value + 0.0, pe); }
#endif
#ifdef MUTANT_signal_first
void shmem_long_put_signal(long *dest, const long *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
                           int sig_op,
                           int pe) {
    if (sig_op == SHMEM_SIGNAL_ADD) pshmem_signal_add(sig_addr, signal, pe); else pshmem_signal_set(sig_addr, signal,
        pe);
    pshmem_quiet();
    usleep(200);
    pshmem_long_put(dest, source, nelems, pe);
}
#endif
#ifdef MUTANT_signal_add_sets
void shmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe) { pshmem_signal_set(sig_addr, signal, pe); }
#endif
#ifdef MUTANT_wait_never
void shmem_uint_wait_until(unsigned int *ivar, int cmp, unsigned int value) {}
#endif
#ifdef MUTANT_test_unsigned
int shmem_int_test(int *ivar, int cmp, int value) { return pshmem_uint_test((unsigned *)ivar, cmp, (unsigned)value); }
#endif
#ifdef MUTANT_test_all_empty
int shmem_long_test_all(long *ivars, size_t nelems, const int *status, int cmp, long value) {
    return nelems == 0 ? 0 : pshmem_long_test_all(ivars, nelems, status, cmp, value);
}
#endif
#ifdef MUTANT_some_ignores_status
size_t shmem_size_test_some(size_t *ivars, size_t nelems, size_t *indices, const int *status, int cmp, size_t value) {
    return pshmem_size_test_some(ivars, nelems, indices, NULL, cmp, value);
}
#endif
#ifdef MUTANT_barrier_never
void shmem_barrier_all(void) {}
#endif
#ifdef MUTANT_sync_never
void shmem_sync_all(void) {}
#endif
#ifdef MUTANT_broadcast_skips_root
int shmem_long_broadcast(shmem_team_t team, long *dest, const long *source, size_t nelems, int root) {
    if (pshmem_team_my_pe(team) != root) return pshmem_long_broadcast(team, dest, source, nelems, root);
    long kept[1024];
    memcpy(kept, dest, nelems * sizeof(long));
    int result = pshmem_long_broadcast(team, dest, source, nelems, root);
    memcpy(dest, kept, nelems * sizeof(long));
    return result;
}
#endif
#ifdef MUTANT_collect_is_fcollect
int shmem_long_collect(shmem_team_t team, long *dest, const long *source, size_t nelems) {
    return pshmem_long_fcollect(team, dest, source, 3);
}
#endif
#ifdef MUTANT_alltoall_is_collect
int shmem_long_alltoall(shmem_team_t team, long *dest, const long *source, size_t nelems) {
    return pshmem_long_fcollect(team, dest, source, nelems);
}
#endif
#ifdef MUTANT_sum_is_max
int shmem_longdouble_sum_reduce(shmem_team_t team, long double *dest, const long double *source, size_t n) {
    return pshmem_longdouble_max_reduce(team, dest, source, n);
}
#endif
#ifdef MUTANT_max_unsigned
int shmem_short_max_reduce(shmem_team_t team, short *dest, const short *source, size_t n) {
    return pshmem_ushort_max_reduce(team, (unsigned short *)dest, (const unsigned short *)source, n);
}
#endif
#ifdef MUTANT_xor_is_or
int shmem_uint8_xor_reduce(shmem_team_t team, uint8_t *dest, const uint8_t *source, size_t n) {
    return pshmem_uint8_or_reduce(team, dest, source, n);
}
#endif
#ifdef MUTANT_exscan_is_inscan
int shmem_int_sum_exscan(shmem_team_t team, int *dest, const int *source, size_t n) {
    return pshmem_int_sum_inscan(team, dest, source, n);
}
#endif
#ifdef MUTANT_active_broadcast_writes_root
void shmem_broadcast64(void *dest, const void *source, size_t nelems, int root, int start, int log, int size,
                       long *work) {
    pshmem_broadcast64(dest, source, nelems, root, start, log, size, work);
    if (pshmem_my_pe() == start + (root << log)) memcpy(dest, source, nelems * 8);
}
#endif
#ifdef MUTANT_calloc_dirty
void *shmem_calloc(size_t count, size_t size) { return count * size == 0 ? NULL : pshmem_malloc(count * size); }
#endif
#ifdef MUTANT_align_never
void *shmem_align(size_t alignment, size_t size) { return size == 0 ? NULL : pshmem_align(8, size + 40); }
#endif
#ifdef MUTANT_realloc_forgets
void *shmem_realloc(void *ptr, size_t size) {
    pshmem_free(ptr);
    return size == 0 ? NULL : pshmem_calloc(1, size);
}
#endif
#ifdef MUTANT_malloc_without_barrier
void *shmem_malloc(size_t size) {
    static long space[512];
    static size_t used;
    if (size > sizeof space - used) return pshmem_malloc(size);
    used += size;
    return (char *)space + used - size;
}
#endif
#ifdef MUTANT_free_never
void shmem_free(void *ptr) { if (ptr != NULL) pshmem_barrier_all(); }
#endif
#ifdef MUTANT_translate_nothing
int shmem_team_translate_pe(shmem_team_t from, int pe, shmem_team_t to) { return pe; }
#endif
#ifdef MUTANT_grid_transposed
int shmem_team_split_2d(shmem_team_t parent, int xrange, const shmem_team_config_t *x, long xm, shmem_team_t *xt,
                        const shmem_team_config_t *y, long ym, shmem_team_t *yt) {
    return pshmem_team_split_2d(parent, xrange, y, ym, yt, x, xm, xt);
}
#endif
#ifdef MUTANT_ctx_team_world
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team) { *team = SHMEM_TEAM_WORLD; return 0; }
#endif
#ifdef MUTANT_ctx_world_numbers
void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe) { pshmem_long_p(dest, value, pe); }
#endif
#ifdef MUTANT_lock_free_for_all
void shmem_set_lock(long *lock) {}
void shmem_clear_lock(long *lock) {}
int shmem_test_lock(long *lock) { return 0; }
#endif
#ifdef MUTANT_always_initialized
void shmem_query_initialized(int *initialized) { *initialized = 1; }
#endif
#ifdef MUTANT_exit_status
void shmem_global_exit(int status) { pshmem_global_exit(status + 1); }
#endif
#ifdef MUTANT_ptr_own
void *shmem_ptr(const void *dest, int pe) { return (void *)(uintptr_t)dest; }
#endif
#ifdef MUTANT_accessible_all
int shmem_addr_accessible(const void *addr, int pe) { return 1; }
#endif
#ifdef MUTANT_thread_single
int shmem_init_thread(int requested, int *provided) {
    int result = pshmem_init_thread(requested, provided);
    *provided = SHMEM_THREAD_SINGLE;
    return result;
}
#endif
#ifdef MUTANT_session_swallows
static int swallowed;
void shmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long mask) {
    swallowed = ctx != SHMEM_CTX_INVALID;
}
void shmem_ctx_session_stop(shmem_ctx_t ctx) { swallowed = 0; }
void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe) {
    if (!swallowed) pshmem_ctx_long_p(ctx, dest, value, pe);
}
#endif
#ifdef MUTANT_start_pes_no_end
#include <stdio.h>
#include <stdlib.h>
static void leave(void) {
    fflush(stdout);
    _exit(0);
}
void start_pes(int npes) {
    int already;
    pshmem_query_initialized(&already);
    if (already) return;
    pshmem_init();
    atexit(leave);
}
#endif
#ifdef MUTANT_fence_never
/* Nonblocking puts happen at the next quiet or barrier, whatever fence says. */
static struct { long *dest; const long *source; size_t nelems; int pe; } held;
static void release(void) {
    if (held.dest != NULL) pshmem_long_put(held.dest, held.source, held.nelems, held.pe);
    held.dest = NULL;
}
void shmem_long_put_nbi(long *dest, const long *source, size_t nelems, int pe) {
    release();
    held.dest = dest, held.source = source, held.nelems = nelems, held.pe = pe;
}
void shmem_quiet(void) { release(); pshmem_quiet(); }
void shmem_barrier_all(void) { release(); pshmem_barrier_all(); }
void shmem_pe_quiet(const int *target_pes, size_t npes) { release(); pshmem_pe_quiet(target_pes, npes); }
#endif
#ifdef MUTANT_pe_quiet_never
static struct { long *dest; const long *source; size_t nelems; int pe; } held;
static void release(void) {
    if (held.dest != NULL) pshmem_long_put(held.dest, held.source, held.nelems, held.pe);
    held.dest = NULL;
}
void shmem_long_put_nbi(long *dest, const long *source, size_t nelems, int pe) {
    release();
    held.dest = dest, held.source = source, held.nelems = nelems, held.pe = pe;
}
void shmem_quiet(void) { release(); pshmem_quiet(); }
void shmem_fence(void) { release(); pshmem_fence(); }
void shmem_barrier_all(void) { release(); pshmem_barrier_all(); }
void shmem_pe_quiet(const int *target_pes, size_t npes) {}
#endif
#ifdef MUTANT_destroy_drops
static struct { long *dest; const long *source; size_t nelems; int pe; } held;
void shmem_ctx_long_put_nbi(shmem_ctx_t ctx, long *dest, const long *source, size_t nelems, int pe) {
    held.dest = dest, held.source = source, held.nelems = nelems, held.pe = pe;
}
void shmem_ctx_quiet(shmem_ctx_t ctx) {
    if (held.dest != NULL) pshmem_long_put(held.dest, held.source, held.nelems, held.pe);
    held.dest = NULL;
}
#endif
#ifdef MUTANT_putmem_last_byte
void shmem_putmem(void *dest, const void *source, size_t nelems, int pe) {
    pshmem_putmem(dest, source, nelems - (nelems > 100000), pe);
}
#endif
#ifdef MUTANT_signal_wait_returns_limit
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t value) {
    pshmem_signal_wait_until(sig_addr, cmp, value);
    return value;
}
#endif
#ifdef MUTANT_p_late
/* A put of one element arrives with the one after it. */
static struct { long *dest; long value; int pe; } late;
void shmem_long_p(long *dest, long value, int pe) {
    if (late.dest != NULL) pshmem_long_p(late.dest, late.value, late.pe);
    late.dest = dest, late.value = value, late.pe = pe;
}
#endif
#ifdef MUTANT_iget_dense
void shmem_longlong_iget(long long *dest, const long long *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                         int pe) {
    pshmem_longlong_iget(dest, source, 1, sst, nelems, pe);
}
#endif
#ifdef MUTANT_generic_add_never
void shmem_ctx_ulong_atomic_add(shmem_ctx_t ctx, unsigned long *dest, unsigned long value, int pe) {}
#endif
#ifdef MUTANT_put_signal_without_data
void shmem_ctx_char_put_signal_nbi(shmem_ctx_t ctx, char *dest, const char *source, size_t nelems, uint64_t *sig_addr,
                                   uint64_t signal, int sig_op, int pe) {
    pshmem_ctx_char_put_signal_nbi(ctx, dest, source, 0, sig_addr, signal, sig_op, pe);
}
#endif
#ifdef MUTANT_inc_torn
void shmem_long_atomic_inc(long *dest, int pe) {
    long old = pshmem_long_g(dest, pe);
    if (old % 64 == 0) usleep(200);
    pshmem_long_p(dest, old + 1, pe);
}
#endif
#ifdef MUTANT_malloc_small_only
void *shmem_malloc(size_t size) { return size > 1 << 20 ? NULL : pshmem_malloc(size); }
#endif
#ifdef MUTANT_malloc_coarse
void *shmem_malloc(size_t size) { return pshmem_malloc(size < 1024 ? 1024 : size); }
#endif
#ifdef MUTANT_split_leaks
#include <stdlib.h>
int shmem_team_split_strided(shmem_team_t parent, int start, int stride, int size, const shmem_team_config_t *config,
                             long mask, shmem_team_t *team) {
    char *volatile lost = malloc(4096);
    memset(lost, 1, 4096);
    return pshmem_team_split_strided(parent, start, stride, size, config, mask, team);
}
#endif
#ifdef MUTANT_one_lock
static long only;
void shmem_set_lock(long *lock) { pshmem_set_lock(&only); }
void shmem_clear_lock(long *lock) { pshmem_clear_lock(&only); }
#endif
#ifdef MUTANT_late_calls_fail
void shmem_query_initialized(int *initialized) { *initialized = 0; }
#endif
#ifdef MUTANT_pcontrol_drops
static int off;
void shmem_pcontrol(int level, ...) { off = level <= 0; }
void shmem_long_p(long *dest, long value, int pe) { if (!off) pshmem_long_p(dest, value, pe); }
#endif
#ifdef MUTANT_inscan_backwards
int shmem_long_sum_inscan(shmem_team_t team, long *dest, const long *source, size_t n) {
    return pshmem_long_sum_reduce(team, dest, source, n);
}
#endif
#ifdef MUTANT_needs_target
/* An atomic that waits until its target is in the library, as some implementations do. */
long shmem_long_atomic_fetch_add(long *dest, long value, int pe) {
    sleep(1);
    return pshmem_long_atomic_fetch_add(dest, value, pe);
}
#endif
#ifdef MUTANT_file_write_short
int shmemx_file_write_at_all(shmemx_file_t file, void *sym, size_t bytes, off_t offset) {
    return pshmemx_file_write_at_all(file, sym, bytes - (bytes > 2000), offset);
}
#endif
#ifdef MUTANT_file_write_goes_well
int shmemx_file_write_at_all(shmemx_file_t file, void *sym, size_t bytes, off_t offset) {
    pshmemx_file_write_at_all(file, sym, bytes, offset);
    return 0;
}
#endif
#ifdef MUTANT_error_stays
void shmemx_error_clear(void) {}
#endif
#ifdef MUTANT_file_refuses_nothing
ssize_t shmemx_file_write_at(shmemx_file_t file, void *sym, size_t bytes, off_t offset) { return (ssize_t)bytes; }
#endif

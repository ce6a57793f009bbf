//! Names of other libraries' extensions in `shmemx.h`: those that have become routines of the specification are macros
//! for these, a few more are inline functions over them. They are no symbols, so that a tool sees the routine.

use std::collections::HashSet;
use std::fmt::Write;

use crate::expand::{Expanded, Routine};

/// What Sandia OpenSHMEM offered as `shmemx_` before the specification had it, arguments alike.
fn was_an_extension(routine: &Routine) -> bool {
    let name = routine.name.as_str();
    let ends = ["_wait_until_all", "_wait_until_any", "_wait_until_some", "_test_all", "_test_any", "_test_some"];
    (name.contains("_atomic_") && name.ends_with("_nbi"))
        || ends.iter().any(|end| name.ends_with(end))
        || ["shmem_signal_add", "shmem_signal_set", "shmem_ctx_signal_add", "shmem_ctx_signal_set"].contains(&name)
        || ["ibput", "ibget", "_sum_inscan", "_sum_exscan"].iter().any(|part| name.contains(part))
}

/// The macros, then [`SANDIA`], [`OSSS`] and [`CRAY`].
pub fn text(groups: &[Expanded]) -> String {
    let all = || groups.iter().flat_map(|group| &group.routines);
    let own: HashSet<&str> =
        all().map(|routine| routine.name.as_str()).filter(|name| name.starts_with("shmemx_")).collect();
    let mut text = String::new();
    let mut define = |standard: &str| {
        let name = standard.replacen("shmem_", "shmemx_", 1);
        if !own.contains(name.as_str()) {
            writeln!(text, "#define {name} {standard}").expect("writing to a string");
        }
    };
    all().filter(|routine| was_an_extension(routine)).for_each(|routine| define(&routine.name));
    GENERIC.iter().for_each(|name| define(name));
    text + SANDIA + OSSS + CRAY
}

/// Type-generic forms, which are macros in C and overloads in C++.
const GENERIC: &[&str] = &[
    "shmem_wait_until_all",
    "shmem_wait_until_any",
    "shmem_wait_until_some",
    "shmem_test_all",
    "shmem_test_any",
    "shmem_test_some",
    "shmem_atomic_fetch_nbi",
    "shmem_atomic_swap_nbi",
    "shmem_atomic_compare_swap_nbi",
    "shmem_atomic_fetch_inc_nbi",
    "shmem_atomic_fetch_add_nbi",
    "shmem_atomic_fetch_and_nbi",
    "shmem_atomic_fetch_or_nbi",
    "shmem_atomic_fetch_xor_nbi",
    "shmem_ibput",
    "shmem_ibget",
    "shmem_sum_inscan",
    "shmem_sum_exscan",
];

const SANDIA: &str = r#"
/* Sandia OpenSHMEM */
#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED
/* An allocation meets here in any case. */
#define SHMEMX_MALLOC_NO_BARRIER 0L
#define SHMEM_MALLOC_MAX_HINTS (SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE)
#define SHMEMX_CTX_BOUNCE_BUFFER 0L

/* Threads are told apart without help. */
static __inline__ void shmemx_register_gettid(uint64_t (*gettid_fn)(void))
{
    (void)gettid_fn;
}

/* Counting puts: a counter that tells its PE how much has come. */
typedef char *shmemx_ct_t;
static __inline__ uint64_t *pellucid_ct_word(shmemx_ct_t ct)
{
    return PELLUCID_AS(uint64_t *, PELLUCID_AS(void *, ct));
}
static __inline__ void shmemx_ct_create(shmemx_ct_t *ct)
{
    *ct = PELLUCID_AS(shmemx_ct_t, shmem_calloc(1, sizeof(uint64_t)));
}
static __inline__ void shmemx_ct_free(shmemx_ct_t *ct)
{
    shmem_free(*ct);
    *ct = PELLUCID_NONE(shmemx_ct_t);
}
static __inline__ long shmemx_ct_get(shmemx_ct_t ct)
{
    return PELLUCID_AS(long, shmem_signal_fetch(pellucid_ct_word(ct)));
}
static __inline__ void shmemx_ct_set(shmemx_ct_t ct, long value)
{
    shmem_uint64_atomic_set(pellucid_ct_word(ct), PELLUCID_AS(uint64_t, value), shmem_my_pe());
}
static __inline__ void shmemx_ct_wait(shmemx_ct_t ct, long wait_for)
{
    shmem_uint64_wait_until(pellucid_ct_word(ct), SHMEM_CMP_GE, PELLUCID_AS(uint64_t, wait_for));
}
static __inline__ void shmemx_putmem_ct(shmemx_ct_t ct, void *target, const void *source, size_t len, int pe)
{
    shmem_putmem_signal(target, source, len, pellucid_ct_word(ct), 1, SHMEM_SIGNAL_ADD, pe);
}
static __inline__ void shmemx_getmem_ct(shmemx_ct_t ct, void *target, const void *source, size_t len, int pe)
{
    shmem_getmem(target, source, len, pe);
    shmem_uint64_atomic_inc(pellucid_ct_word(ct), pe);
}

/*
 * Performance counters: what the profile has counted on this PE, over all contexts and threads; 0 while it is off.
 * Asking completes what is open on the context, so that nothing is pending. What others have written here is not
 * counted.
 */
typedef struct {
    uint64_t pending_put, pending_get, completed_put, completed_get, target;
} shmemx_pcntr_t;
/* Calls that read what is elsewhere (gets, atomics that fetch a value), or those that write only. */
static __inline__ uint64_t pellucid_calls(int reads)
{
    uint64_t sum = 0;
    int var, vars = shmemx_var_count();
    for (var = 0; var < vars; var++) {
        shmemx_var_info_t info;
        unsigned of;
        int fetches;
        int64_t calls = 0;
        info.size = sizeof info;
        if (shmemx_var_info(var, &info) != 0 || info.op < 0 || !strstr(info.name, ".calls")) continue;
        of = shmemx_op_class(info.op);
        if ((of & (SHMEMX_CLASS_PUT | SHMEMX_CLASS_GET | SHMEMX_CLASS_AMO | SHMEMX_CLASS_SIGNAL)) == 0) continue;
        fetches = strstr(info.name, "fetch") || strstr(info.name, "swap") || strstr(info.name, "_fadd") ||
                  strstr(info.name, "_finc");
        if (((of & SHMEMX_CLASS_GET) != 0 || fetches) != (reads != 0)) continue;
        if (shmemx_var_read(var, &calls, 1) > 0) sum += PELLUCID_AS(uint64_t, calls);
    }
    return sum;
}
static __inline__ void shmemx_pcntr_get_issued_write(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    (void)ctx;
    *cntr_value = pellucid_calls(0);
}
static __inline__ void shmemx_pcntr_get_issued_read(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    (void)ctx;
    *cntr_value = pellucid_calls(1);
}
static __inline__ void shmemx_pcntr_get_completed_write(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    shmem_ctx_quiet(ctx);
    shmemx_pcntr_get_issued_write(ctx, cntr_value);
}
static __inline__ void shmemx_pcntr_get_completed_read(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    shmem_ctx_quiet(ctx);
    shmemx_pcntr_get_issued_read(ctx, cntr_value);
}
static __inline__ void shmemx_pcntr_get_pending_put(shmem_ctx_t ctx, uint64_t *cntr_value)
{
    shmem_ctx_quiet(ctx);
    *cntr_value = 0;
}
#define shmemx_pcntr_get_pending_get shmemx_pcntr_get_pending_put
#define shmemx_pcntr_get_completed_put shmemx_pcntr_get_completed_write
#define shmemx_pcntr_get_completed_get shmemx_pcntr_get_completed_read
/* Without a context; versions before had one. */
#ifdef __cplusplus
extern "C++" {
inline void shmemx_pcntr_get_completed_target(uint64_t *cntr_value) { *cntr_value = 0; }
inline void shmemx_pcntr_get_completed_target(shmem_ctx_t, uint64_t *cntr_value) { *cntr_value = 0; }
}
#else
static __inline__ void pellucid_completed_target(uint64_t *cntr_value)
{
    *cntr_value = 0;
}
#define PELLUCID_THIRD(first, second, third, ...) third
#define shmemx_pcntr_get_completed_target(...)                                                                         \
    PELLUCID_THIRD(__VA_ARGS__, PELLUCID_COMPLETED_TARGET_2, PELLUCID_COMPLETED_TARGET_1, 0)(__VA_ARGS__)
#define PELLUCID_COMPLETED_TARGET_1(value) pellucid_completed_target(value)
#define PELLUCID_COMPLETED_TARGET_2(ctx, value) ((void)(ctx), pellucid_completed_target(value))
#endif
static __inline__ void shmemx_pcntr_get_all(shmem_ctx_t ctx, shmemx_pcntr_t *pcntr)
{
    shmemx_pcntr_get_completed_write(ctx, &pcntr->completed_put);
    shmemx_pcntr_get_completed_read(ctx, &pcntr->completed_get);
    pcntr->pending_put = pcntr->pending_get = pcntr->target = 0;
}
"#;

const OSSS: &str = r#"
/* OSSS-UCX */
/* They complete what is open, instead of asking whether it is complete. */
static __inline__ int shmemx_fence_test(void)
{
    shmem_fence();
    return 1;
}
static __inline__ int shmemx_quiet_test(void)
{
    shmem_quiet();
    return 1;
}

/* Where this PE reaches the object of another PE of its host; NULL where that is on another host. */
static __inline__ void *shmemx_lookup_remote_addr(void *addr, int pe)
{
    return shmem_ptr(addr, pe);
}

/* There is one heap, number 0: whatever index or name is asked for means it. */
typedef int shmemx_heap_index_t;
#define shmemx_name_to_index(name) ((void)(name), PELLUCID_AS(shmemx_heap_index_t, 0))
#define shmemx_index_to_name(index) ((void)(index), "default")
#define shmemx_malloc_by_index(index, size) ((void)(index), shmem_malloc(size))
#define shmemx_calloc_by_index(index, count, size) ((void)(index), shmem_calloc(count, size))
#define shmemx_realloc_by_index(index, ptr, size) ((void)(index), shmem_realloc(ptr, size))
#define shmemx_align_by_index(index, alignment, size) ((void)(index), shmem_align(alignment, size))
#define shmemx_free_by_index(index, ptr) ((void)(index), shmem_free(ptr))
#define shmemx_malloc_by_name(name, size) shmemx_malloc_by_index(name, size)
#define shmemx_calloc_by_name(name, count, size) shmemx_calloc_by_index(name, count, size)
#define shmemx_realloc_by_name(name, ptr, size) shmemx_realloc_by_index(name, ptr, size)
#define shmemx_align_by_name(name, alignment, size) shmemx_align_by_index(name, alignment, size)
#define shmemx_free_by_name(name, ptr) shmemx_free_by_index(name, ptr)
"#;

const CRAY: &str = r"
/* Cray SHMEM: atomics on 16 bits, over those on the word that they lie in. */
#ifdef SHMEMX_CRAY_NAMES
static __inline__ short pellucid_short_replace(short *target, short compare, int always, short value, short add, int pe)
{
    uintptr_t at = PELLUCID_BITS(uintptr_t, target);
    uint32_t *word = PELLUCID_BITS(uint32_t *, at - (at & 2));
    unsigned shift = PELLUCID_AS(unsigned, at & 2) * 8;
    uint32_t old = shmem_uint32_atomic_fetch(word, pe);
    for (;;) {
        short found = PELLUCID_AS(short, PELLUCID_AS(uint16_t, old >> shift));
        short next = always ? PELLUCID_AS(short, value + add * found) : value;
        uint32_t half = PELLUCID_AS(uint16_t, next);
        uint32_t wanted = (old & ~(PELLUCID_AS(uint32_t, 0xffff) << shift)) | half << shift;
        uint32_t before;
        if (!always && found != compare) return found;
        before = shmem_uint32_atomic_compare_swap(word, old, wanted, pe);
        if (before == old) return found;
        old = before;
    }
}
#define shmem_short_swap(target, value, pe) pellucid_short_replace(target, 0, 1, value, 0, pe)
#define shmem_short_cswap(target, cond, value, pe) pellucid_short_replace(target, cond, 0, value, 0, pe)
#define shmem_short_fadd(target, value, pe) pellucid_short_replace(target, 0, 1, value, 1, pe)
#define shmem_short_add(target, value, pe) ((void)pellucid_short_replace(target, 0, 1, value, 1, pe))
#define shmem_short_finc(target, pe) pellucid_short_replace(target, 0, 1, 1, 1, pe)
#define shmem_short_inc(target, pe) ((void)pellucid_short_replace(target, 0, 1, 1, 1, pe))
#endif
";

/*
 * GASNet tools on Pellucid: what clients use beside communication. Most of it is the compiler's and the C library's.
 * Written from the names alone, and from what each says.
 */
#ifndef _GEX_TOOLS_H
#define _GEX_TOOLS_H
#define _INCLUDED_GASNET_TOOLS_H 1

#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gasnet_fwd.h"
#include "pellucid_gex_locks.h"
#include "pellucid_gex_platform.h"

#ifdef __cplusplus
extern "C" {
#endif

#define _GEX_TOOL static inline __attribute__((__unused__))

/* What the library has functions for. */
char *gasnett_getenv(const char *name);
char *gasnett_getenv_withdefault(const char *name, const char *otherwise);
void gasnett_setenv(const char *name, const char *value);
void gasnett_unsetenv(const char *name);
int gasnett_getenv_yesno_withdefault(const char *name, int otherwise);
int64_t gasnett_getenv_int_withdefault(const char *name, int64_t otherwise, uint64_t unit);
double gasnett_getenv_dbl_withdefault(const char *name, double otherwise);
int gasnett_verboseenv(void);
void gasnett_envstr_display(const char *name, const char *value, int is_default);
void gasnett_envint_display(const char *name, int64_t value, int is_default, int is_mem_size);
void gasnett_envdbl_display(const char *name, double value, int is_default);
int64_t gasnett_parse_int(const char *text, uint64_t unit);
char *gasnett_format_number(int64_t value, char *buffer, size_t bytes, int is_mem_size);
const char *gasnett_gethostname(void);
const char *gasnett_exe_name(void);
int gasnett_cpu_count(void);
uint64_t gasnett_getPhysMemSz(int failure_is_fatal);
void gasnett_set_affinity(int rank);
int gasnett_maximize_rlimits(void);
int gasnett_maximize_rlimit(int which, const char *name);
void gasnett_flush_streams(void);
void gasnett_close_streams(void);
int gasnett_print_backtrace(int fd);
extern int (*gasnett_print_backtrace_ifenabled)(int fd);
void gasnett_freezeForDebuggerNow(volatile int *flag, const char *name);
void gasnett_freezeForDebuggerErr(void);
void gasnett_backtrace_init(const char *exename);
void *gasnett_mmap(uintptr_t bytes);
uint64_t gasnett_checksum(const void *data, size_t bytes);
size_t gasnett_format_dt(char *buffer, gex_DT_t dt);
size_t gasnett_format_op(char *buffer, gex_OP_t op);
size_t gasnett_format_ti(char *buffer, uint32_t ti);

typedef struct {
    uint64_t allocated_bytes;
    uint64_t freed_bytes;
    uint64_t live_bytes;
    uint64_t live_bytes_max;
    uint64_t allocated_objects;
    uint64_t freed_objects;
    uint64_t live_objects;
    uint64_t live_objects_max;
    uint64_t overhead_bytes;
} gasnett_heapstats_t;
int gasnett_getheapstats(gasnett_heapstats_t *stats);

typedef struct {
    const char *name;
    int (*fnp)(int fd);
    int threadsupport;
} gasnett_backtrace_type_t;
extern gasnett_backtrace_type_t gasnett_backtrace_user;

typedef void (*gasnett_sighandlerfn_t)(int);
_GEX_TOOL gasnett_sighandlerfn_t gasnett_reghandler(int signum, gasnett_sighandlerfn_t handler)
{
    return signal(signum, handler);
}

void pellucid_gex_fatal(const char *format, ...) __attribute__((__noreturn__, __format__(__printf__, 1, 2)));
#define gasnett_fatalerror pellucid_gex_fatal
#define gasnett_fatalerror_nopos pellucid_gex_fatal
#define gasnett_killmyprocess(code) _exit(code)

/* Where a line of a program is, in words: memory that the caller may free. */
char *pellucid_gex_location(const char *function, const char *file, int line);
#define gasnett_current_loc pellucid_gex_location(__func__, __FILE__, __LINE__)

#define gasnett_isLittleEndian() (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* Names that clients take from these headers; the last two as the C library has them in a header of its own. */
#ifndef PRIuSZ
#define PRIuSZ "zu"
#endif
#ifndef MIN
#define MIN(a,b) (((a)<(b))?(a):(b))
#endif
#ifndef MAX
#define MAX(a,b) (((a)>(b))?(a):(b))
#endif

/* Time, in nanoseconds. */
typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN ((gasnett_tick_t)0)
#define GASNETT_TICK_MAX ((gasnett_tick_t)UINT64_MAX)
gasnett_tick_t gasnett_ticks_now(void);
double gasnett_tick_granularityus(void);
double gasnett_tick_overheadus(void);
uint64_t gasnett_gettimeofday_us(void);
int gasnett_nsleep(uint64_t ns);
#define gasnett_ticks_to_ns(ticks) ((uint64_t)(ticks))
#define gasnett_ticks_to_us(ticks) ((uint64_t)(ticks) / 1000u)
#define gasnett_sched_yield() ((void)sched_yield())
#if defined(__x86_64__) || defined(__i386__)
#define gasnett_spinloop_hint() __asm__ __volatile__("pause" ::: "memory")
#else
#define gasnett_spinloop_hint() __asm__ __volatile__("" ::: "memory")
#endif

/* Order of memory. */
#define gasnett_local_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define gasnett_local_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define gasnett_local_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define gasnett_weak_wmb() gasnett_local_wmb()
#define gasnett_weak_rmb() gasnett_local_rmb()
#define gasnett_weak_mb() gasnett_local_mb()
#define gasnett_compiler_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Atomic words: each operation is a fence, whatever its flags ask for. */
#define GASNETT_ATOMIC_NONE 0
#define GASNETT_ATOMIC_WMB_PRE 1
#define GASNETT_ATOMIC_RMB_PRE 2
#define GASNETT_ATOMIC_MB_PRE 3
#define GASNETT_ATOMIC_WMB_POST 4
#define GASNETT_ATOMIC_RMB_POST 8
#define GASNETT_ATOMIC_MB_POST 12
#define GASNETT_ATOMIC_REL GASNETT_ATOMIC_MB_PRE
#define GASNETT_ATOMIC_ACQ GASNETT_ATOMIC_MB_POST
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE 16
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE 32
#define GASNETT_ATOMIC_ACQ_IF_TRUE GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE GASNETT_ATOMIC_RMB_POST_IF_FALSE
#define GASNETT_HAVE_ATOMIC_CAS 1
#define GASNETT_HAVE_ATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS 1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1

#define _GEX_ATOMICS(name, value) \
    typedef struct { \
        volatile value pellucid_value; \
    } name##_t; \
    _GEX_TOOL value name##_read(const name##_t *p, int flags) \
    { \
        (void)flags; \
        return __atomic_load_n(&p->pellucid_value, __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL void name##_set(name##_t *p, value v, int flags) \
    { \
        (void)flags; \
        __atomic_store_n(&p->pellucid_value, v, __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL void name##_increment(name##_t *p, int flags) \
    { \
        (void)flags; \
        (void)__atomic_add_fetch(&p->pellucid_value, 1, __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL void name##_decrement(name##_t *p, int flags) \
    { \
        (void)flags; \
        (void)__atomic_sub_fetch(&p->pellucid_value, 1, __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL int name##_decrement_and_test(name##_t *p, int flags) \
    { \
        (void)flags; \
        return __atomic_sub_fetch(&p->pellucid_value, 1, __ATOMIC_SEQ_CST) == 0; \
    } \
    _GEX_TOOL int name##_compare_and_swap(name##_t *p, value oldval, value newval, int flags) \
    { \
        (void)flags; \
        return __atomic_compare_exchange_n(&p->pellucid_value, &oldval, newval, 0, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL value name##_swap(name##_t *p, value v, int flags) \
    { \
        (void)flags; \
        return __atomic_exchange_n(&p->pellucid_value, v, __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL value name##_add(name##_t *p, value v, int flags) \
    { \
        (void)flags; \
        return __atomic_add_fetch(&p->pellucid_value, v, __ATOMIC_SEQ_CST); \
    } \
    _GEX_TOOL value name##_subtract(name##_t *p, value v, int flags) \
    { \
        (void)flags; \
        return __atomic_sub_fetch(&p->pellucid_value, v, __ATOMIC_SEQ_CST); \
    }

typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
_GEX_ATOMICS(gasnett_atomic, gasnett_atomic_val_t)
_GEX_ATOMICS(gasnett_strongatomic, gasnett_atomic_val_t)
_GEX_ATOMICS(gasnett_atomic32, uint32_t)
_GEX_ATOMICS(gasnett_strongatomic32, uint32_t)
_GEX_ATOMICS(gasnett_atomic64, uint64_t)
_GEX_ATOMICS(gasnett_strongatomic64, uint64_t)
#define gasnett_atomic_init(v) \
    { \
        (v) \
    }
#define gasnett_strongatomic_init(v) gasnett_atomic_init(v)
#define gasnett_atomic32_init(v) gasnett_atomic_init(v)
#define gasnett_strongatomic32_init(v) gasnett_atomic_init(v)
#define gasnett_atomic64_init(v) gasnett_atomic_init(v)
#define gasnett_strongatomic64_init(v) gasnett_atomic_init(v)
#define gasnett_atomic_signed(v) ((gasnett_atomic_sval_t)(v))
#define GASNETT_ATOMIC_MAX ((gasnett_atomic_val_t)0xffffffffu)
#define GASNETT_ATOMIC_SIGNED_MIN ((gasnett_atomic_sval_t)INT32_MIN)
#define GASNETT_ATOMIC_SIGNED_MAX ((gasnett_atomic_sval_t)INT32_MAX)

/* Functions that clients name to silence warnings. */
_GEX_TOOL void _gasneti_threadkey_init(void *key)
{
    (void)key;
}
_GEX_TOOL void _gasnett_trace_printf_noop(const char *format, ...)
{
    (void)format;
}

/* Zero bytes. */
_GEX_TOOL size_t gasnett_count0s(const void *data, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)data;
    size_t count = 0, i;
    for (i = 0; i < bytes; i++)
        count += p[i] == 0;
    return count;
}
_GEX_TOOL size_t gasnett_count0s_copy(void *dest, const void *data, size_t bytes)
{
    memcpy(dest, data, bytes);
    return gasnett_count0s(data, bytes);
}
_GEX_TOOL size_t gasnett_count0s_uint32_t(uint32_t word)
{
    return gasnett_count0s(&word, sizeof word);
}
_GEX_TOOL size_t gasnett_count0s_uint64_t(uint64_t word)
{
    return gasnett_count0s(&word, sizeof word);
}
_GEX_TOOL size_t gasnett_count0s_uintptr_t(uintptr_t word)
{
    return gasnett_count0s(&word, sizeof word);
}

/* Memory: that of the C library, which is not checked further. */
#define gasnett_debug_malloc(bytes) malloc(bytes)
#define gasnett_debug_calloc(count, bytes) calloc((count), (bytes))
#define gasnett_debug_realloc(at, bytes) realloc((at), (bytes))
#define gasnett_debug_free(at) free(at)
#define gasnett_debug_strdup(text) strdup(text)
#define gasnett_debug_strndup(text, bytes) strndup((text), (bytes))
#define gasnett_debug_memcheck(at) ((void)(at))
#define gasnett_debug_memcheck_one() ((void)0)
#define gasnett_debug_memcheck_all() ((void)0)

/* Lists in words, for messages. */
size_t gasnett_format_memveclist(char *buffer, size_t count, const void *list);
size_t gasnett_format_addrlist(char *buffer, size_t count, void *const *list, size_t bytes);
size_t gasnett_format_putsgets(char *buffer, void *stats, uint32_t rank, size_t dstcount, const void *dstlist,
                               size_t srccount, const void *srclist);
#define gasnett_format_memveclist_bufsz(count) ((size_t)(count) * 48 + 64)
#define gasnett_format_addrlist_bufsz(count) ((size_t)(count) * 24 + 64)
#define gasnett_format_putsgets_bufsz(dstcount, srccount) (((size_t)(dstcount) + (size_t)(srccount)) * 48 + 192)

#define gasnett_release_version() (2024050000ULL)
#define gasnett_release_version_str() "2024.5.0"
#define gasnett_performance_warning_str() ""

#ifdef __cplusplus
}
#endif

#endif

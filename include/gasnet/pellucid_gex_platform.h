/* GASNet tools on Pellucid: constants and macros about the platform, and those of tracing, which do nothing here. */
#ifndef _GEX_PLATFORM_H
#define _GEX_PLATFORM_H

#include "gasnet_portable_platform.h"

#ifndef GASNETT_SPEC_VERSION_MAJOR
#define GASNETT_SPEC_VERSION_MAJOR 1
#define GASNETT_SPEC_VERSION_MINOR 20
#endif
#define GASNET_RELEASE_VERSION_MAJOR 2024
#define GASNET_RELEASE_VERSION_MINOR 5
#define GASNET_RELEASE_VERSION_PATCH 0
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH

#if !defined(GASNETT_THREAD_SAFE) && (defined(GASNET_PAR) || defined(GASNET_PARSYNC))
#define GASNETT_THREAD_SAFE 1
#endif
/* Threads of a client that may be in calls at a time: as gex_System_QueryMaxThreads, for tables that programs make. */
#ifdef GASNET_SEQ
#define GASNETT_MAX_THREADS 1
#else
#define GASNETT_MAX_THREADS 1024
#endif
#define GASNETT_PAGESIZE 4096
#define GASNETT_PAGESHIFT 12
#define GASNETT_CACHE_LINE_BYTES 64
#define GASNETT_SET_AFFINITY_SUPPORT 1
#define GASNETT_SET_AFFINITY(rank) gasnett_set_affinity(rank)
#ifdef __aarch64__
#define GASNETT_SYSTEM_TUPLE "aarch64-unknown-linux-gnu"
#else
#define GASNETT_SYSTEM_TUPLE "x86_64-pc-linux-gnu"
#endif
#define GASNETT_CONFIG_STRING "RELEASE=2024.5.0,SPEC=1.20,PTR=64bit,TIMERS_IF=posixrt,ATOMICS=native"
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1

/* What a macro expands to, in quotes; clients use the name. */
#ifndef _STRINGIFY
#define _GEX_QUOTED(text) #text
#define _STRINGIFY(text) _GEX_QUOTED(text)
#endif

#ifdef __cplusplus
#define GASNETT_EXTERNC extern "C"
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC }
#else
#define GASNETT_EXTERNC extern
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#endif
#define GASNETT_INLINE(name) static inline
#define GASNETT_PLEASE_INLINE(name) static inline
#define GASNETT_NEVER_INLINE(name, declarator) __attribute__((__noinline__)) declarator
#define GASNETT_NORETURN __attribute__((__noreturn__))
#define GASNETT_NORETURNP(name)
#define GASNETT_USED __attribute__((__used__))
#define GASNETT_UNUSED __attribute__((__unused__))
#define GASNETT_HOT __attribute__((__hot__))
#define GASNETT_COLD __attribute__((__cold__))
#define GASNETT_PURE __attribute__((__pure__))
#define GASNETT_PUREP(name)
#define GASNETT_CONST __attribute__((__const__))
#define GASNETT_CONSTP(name)
#define GASNETT_DEPRECATED __attribute__((__deprecated__))
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#define GASNETT_ALWAYS_INLINE(name) static inline __attribute__((__always_inline__))
#define GASNETT_PREDICT_TRUE(condition) __builtin_expect(!!(condition), 1)
#define GASNETT_PREDICT_FALSE(condition) __builtin_expect(!!(condition), 0)
#define GASNETT_PREFETCH_READ_HINT(address) __builtin_prefetch((address), 0)
#define GASNETT_PREFETCH_WRITE_HINT(address) __builtin_prefetch((address), 1)
#ifndef if_pt
#define if_pt(condition) if (GASNETT_PREDICT_TRUE(condition))
#endif
#ifndef if_pf
#define if_pf(condition) if (GASNETT_PREDICT_FALSE(condition))
#endif

/* What a compiler may take for granted. UPC++ asks for the second by its name. */
#define gasnett_constant_p(value) __builtin_constant_p(value)
#define gasneti_builtin_unreachable() __builtin_unreachable()
#define gasnett_unreachable() __builtin_unreachable()
#define gasnett_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#if defined(__has_attribute)
#if __has_attribute(__fallthrough__)
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));
#endif
#endif
#ifndef GASNETT_FALLTHROUGH
#define GASNETT_FALLTHROUGH ((void)0);
#endif

#define GASNETT_MALLOC __attribute__((__malloc__))
#define GASNETT_MALLOCP(name)
#define GASNETT_RESTRICT __restrict__
#define GASNETT_CURRENT_FUNCTION __func__
#define GASNETT_FORMAT_PRINTF(name, format, first, declarator) \
    __attribute__((__format__(__printf__, format, first))) declarator
#define GASNETT_FORMAT_PRINTF_FUNCPTR(name, format, first, declarator) \
    __attribute__((__format__(__printf__, format, first))) declarator
#define GASNETT_IDENT(name, text) static const char name[] __attribute__((__used__)) = text
#define GASNETT_UNUSED_ARGS1(a) ((void)(a))
#define GASNETT_UNUSED_ARGS2(a, b) ((void)(a), (void)(b))
#define GASNETT_UNUSED_ARGS3(a, b, c) (GASNETT_UNUSED_ARGS2(a, b), (void)(c))
#define GASNETT_UNUSED_ARGS4(a, b, c, d) (GASNETT_UNUSED_ARGS3(a, b, c), (void)(d))
#define GASNETT_UNUSED_ARGS5(a, b, c, d, e) (GASNETT_UNUSED_ARGS4(a, b, c, d), (void)(e))
#define GASNETT_UNUSED_ARGS6(a, b, c, d, e, f) (GASNETT_UNUSED_ARGS5(a, b, c, d, e), (void)(f))
#define GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g) (GASNETT_UNUSED_ARGS6(a, b, c, d, e, f), (void)(g))
#define GASNETT_UNUSED_ARGS8(a, b, c, d, e, f, g, h) (GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g), (void)(h))

/* Tracing is the profile's business here: oshrun --trace. */
#define GASNETT_TRACE_ENABLED 0
#define GASNETT_TRACE_PRINTF(...) ((void)0)
#define GASNETT_TRACE_PRINTF_FORCE(...) ((void)0)
#define GASNETT_TRACE_GETMASK() ""
#define GASNETT_TRACE_SETMASK(mask) ((void)(mask))
#define GASNETT_TRACE_GET_TRACELOCAL() 0
#define GASNETT_TRACE_SET_TRACELOCAL(value) ((void)(value))
#define GASNETT_TRACE_SETSOURCELINE(file, line) ((void)(file), (void)(line))
#define GASNETT_TRACE_GETSOURCELINE(file, line) ((void)(*(file) = ""), (void)(*(line) = 0))
#define GASNETT_TRACE_FREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE() ((void)0)
#define GASNETT_STATS_INIT(callback) ((void)(callback), 0)
#define GASNETT_STATS_PRINTF(...) ((void)0)
#define GASNETT_STATS_PRINTF_FORCE(...) ((void)0)
#define GASNETT_STATS_GETMASK() ""
#define GASNETT_STATS_SETMASK(mask) ((void)(mask))
#define GASNETT_STATS_DUMP(reset) ((void)(reset))

#endif

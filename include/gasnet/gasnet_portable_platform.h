/*
 * GASNet tools on Pellucid: what compiler, system and processor a program is compiled by and for. Where a header of
 * the same names with a version of its own (PLATFORM_HEADER_VERSION) came before, that has said all of it; one that
 * comes later says it anew.
 */
#if !defined(_GEX_PORTABLE_PLATFORM_H) && !defined(PLATFORM_HEADER_VERSION)
#define _GEX_PORTABLE_PLATFORM_H

#ifndef PLATFORM_STRINGIFY
#define _PLATFORM_STRINGIFY_HELPER(text) #text
#define PLATFORM_STRINGIFY(text) _PLATFORM_STRINGIFY_HELPER(text)
#endif

/* The compiler. */
#if defined(__clang__)
#define PLATFORM_COMPILER_CLANG 1
#define PLATFORM_COMPILER_FAMILYNAME CLANG
#define PLATFORM_COMPILER_FAMILYID 19
#define PLATFORM_COMPILER_VERSION PLATFORM_COMPILER_VERSION_INT(__clang_major__, __clang_minor__, __clang_patchlevel__)
#define PLATFORM_COMPILER_VERSION_STR __clang_version__
#ifdef __cplusplus
#define PLATFORM_COMPILER_CLANG_CXX 1
#else
#define PLATFORM_COMPILER_CLANG_C 1
#endif
#else
#define PLATFORM_COMPILER_GNU 1
#define PLATFORM_COMPILER_FAMILYNAME GNU
#define PLATFORM_COMPILER_FAMILYID 1
#define PLATFORM_COMPILER_VERSION PLATFORM_COMPILER_VERSION_INT(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)
#define PLATFORM_COMPILER_VERSION_STR __VERSION__
#ifdef __cplusplus
#define PLATFORM_COMPILER_GNU_CXX 1
#else
#define PLATFORM_COMPILER_GNU_C 1
#endif
#endif
#ifdef __cplusplus
#define PLATFORM_COMPILER_ID (10000 + PLATFORM_COMPILER_FAMILYID)
#define PLATFORM_COMPILER_CXX_LANGLVL __cplusplus
#else
#define PLATFORM_COMPILER_ID PLATFORM_COMPILER_FAMILYID
#define PLATFORM_COMPILER_C_LANGLVL __STDC_VERSION__
#endif

/* Versions in an order, in conditions of the preprocessor, too. */
#define PLATFORM_COMPILER_VERSION_INT(major, minor, patch) ((((major) << 16) | ((minor) << 8)) + (patch))
#define PLATFORM_COMPILER_VERSION_GT(major, minor, patch) \
    (PLATFORM_COMPILER_VERSION > PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_GE(major, minor, patch) \
    (PLATFORM_COMPILER_VERSION >= PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_EQ(major, minor, patch) \
    (PLATFORM_COMPILER_VERSION == PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_LE(major, minor, patch) \
    (PLATFORM_COMPILER_VERSION <= PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_VERSION_LT(major, minor, patch) \
    (PLATFORM_COMPILER_VERSION < PLATFORM_COMPILER_VERSION_INT(major, minor, patch))
#define PLATFORM_COMPILER_IDSTR PLATFORM_STRINGIFY(PLATFORM_COMPILER_FAMILYNAME) " " PLATFORM_COMPILER_VERSION_STR

/* The system. */
#define PLATFORM_OS_LINUX 1
#define PLATFORM_OS_FAMILYNAME LINUX

/* The processor. */
#define PLATFORM_ARCH_64 1
#define _PLATFORM_ARCH_64 1
#if defined(__x86_64__)
#define PLATFORM_ARCH_X86_64 1
#define PLATFORM_ARCH_FAMILYNAME X86_64
#elif defined(__aarch64__)
#define PLATFORM_ARCH_AARCH64 1
#define PLATFORM_ARCH_FAMILYNAME AARCH64
#else
#define PLATFORM_ARCH_UNKNOWN 1
#define PLATFORM_ARCH_FAMILYNAME UNKNOWN
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PLATFORM_ARCH_LITTLE_ENDIAN 1
#else
#define PLATFORM_ARCH_BIG_ENDIAN 1
#endif

#endif

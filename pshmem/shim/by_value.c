/*
 * Entries whose arguments Rust cannot take: `long double` travels in registers or stack slots that no Rust type does,
 * and a variable argument list has no stable form. Each calls its Rust half with an address, or with what the list has.
 */
#include <stdarg.h>
#include <stddef.h>

#include "shmemx.h"

typedef void *ctx_t;
typedef long double ld;

_Static_assert(sizeof(ld) == 16, "the library moves long double as 16 bytes");

#define P(which) \
    void pellucid_##which##_shmem_longdouble_p(ld *dest, const ld *value, int pe); \
    void pellucid_c_##which##_shmem_longdouble_p(ld *dest, ld value, int pe) \
    { \
        pellucid_##which##_shmem_longdouble_p(dest, &value, pe); \
    } \
    void pellucid_##which##_shmem_ctx_longdouble_p(ctx_t ctx, ld *dest, const ld *value, int pe); \
    void pellucid_c_##which##_shmem_ctx_longdouble_p(ctx_t ctx, ld *dest, ld value, int pe) \
    { \
        pellucid_##which##_shmem_ctx_longdouble_p(ctx, dest, &value, pe); \
    }

#define G(which) \
    void pellucid_##which##_shmem_longdouble_g(ld *result, const ld *source, int pe); \
    ld pellucid_c_##which##_shmem_longdouble_g(const ld *source, int pe) \
    { \
        ld result; \
        pellucid_##which##_shmem_longdouble_g(&result, source, pe); \
        return result; \
    } \
    void pellucid_##which##_shmem_ctx_longdouble_g(ld *result, ctx_t ctx, const ld *source, int pe); \
    ld pellucid_c_##which##_shmem_ctx_longdouble_g(ctx_t ctx, const ld *source, int pe) \
    { \
        ld result; \
        pellucid_##which##_shmem_ctx_longdouble_g(&result, ctx, source, pe); \
        return result; \
    }

/* Where the calling thread's last shmem_pcontrol returns to: messages about it name the place. */
__attribute__((visibility("hidden"), tls_model("initial-exec"))) __thread void *pellucid_pcontrol_returns_to;

__attribute__((visibility("hidden"))) void *pellucid_pcontrol_from(void)
{
    return pellucid_pcontrol_returns_to;
}

/* Reads the arguments that the level takes, and no others: programs pass levels of other libraries without any. */
#define PCONTROL(which) \
    void pellucid_##which##_shmem_pcontrol(int level, const char *name, double value, long number); \
    void pellucid_c_##which##_shmem_pcontrol(int level, ...); \
    void pellucid_c_##which##_shmem_pcontrol(int level, ...) \
    { \
        const char *name = NULL; \
        double value = 0; \
        long number = 0; \
        va_list list; \
        pellucid_pcontrol_returns_to = __builtin_return_address(0); \
        va_start(list, level); \
        switch (level) { \
        case SHMEMX_PCONTROL_REGION_BEGIN: \
        case SHMEMX_PCONTROL_REGION_END: \
            name = va_arg(list, const char *); \
            break; \
        case SHMEMX_PCONTROL_MARKER: \
            name = va_arg(list, const char *); \
            value = va_arg(list, double); \
            break; \
        case SHMEMX_PCONTROL_SAMPLING: \
        case SHMEMX_PCONTROL_LONG: \
            number = va_arg(list, int); \
            break; \
        default: \
            break; \
        } \
        va_end(list); \
        pellucid_##which##_shmem_pcontrol(level, name, value, number); \
    }

P(imp)
P(probe)
P(intercepted)
G(imp)
G(probe)
G(intercepted)
PCONTROL(imp)
PCONTROL(probe)
PCONTROL(intercepted)

/* From the Rust half to the function of a tool. */

void pellucid_through_shmem_longdouble_p(void (*tool)(ld *, ld, int), ld *dest, const ld *value, int pe)
{
    tool(dest, *value, pe);
}

void pellucid_through_shmem_ctx_longdouble_p(void (*tool)(ctx_t, ld *, ld, int), ctx_t ctx, ld *dest, const ld *value,
                                             int pe)
{
    tool(ctx, dest, *value, pe);
}

void pellucid_through_shmem_longdouble_g(ld (*tool)(const ld *, int), ld *result, const ld *source, int pe)
{
    *result = tool(source, pe);
}

void pellucid_through_shmem_ctx_longdouble_g(ld (*tool)(ctx_t, const ld *, int), ld *result, ctx_t ctx,
                                             const ld *source, int pe)
{
    *result = tool(ctx, source, pe);
}

/* A tool gets the arguments that the level takes. */
void pellucid_through_shmem_pcontrol(void (*tool)(int, ...), int level, const char *name, double value, long number)
{
    switch (level) {
    case SHMEMX_PCONTROL_REGION_BEGIN:
    case SHMEMX_PCONTROL_REGION_END:
        tool(level, name);
        break;
    case SHMEMX_PCONTROL_MARKER:
        tool(level, name, value);
        break;
    case SHMEMX_PCONTROL_SAMPLING:
    case SHMEMX_PCONTROL_LONG:
        tool(level, (int)number);
        break;
    default:
        tool(level);
    }
}

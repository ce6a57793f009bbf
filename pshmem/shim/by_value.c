/*
 * Entries whose arguments Rust cannot take: `long double` travels in registers or stack slots that no Rust type does,
 * and a variable argument list has no stable form. Each calls its Rust half with an address, or without the list.
 */
#include <stddef.h>

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

/* No level takes further arguments yet; those that come are left unread. */
#define PCONTROL(which) \
    void pellucid_##which##_shmem_pcontrol(int level); \
    void pellucid_c_##which##_shmem_pcontrol(int level, ...); \
    void pellucid_c_##which##_shmem_pcontrol(int level, ...) \
    { \
        pellucid_##which##_shmem_pcontrol(level); \
    }

P(imp)
P(probe)
P(guest)
G(imp)
G(probe)
G(guest)
PCONTROL(imp)
PCONTROL(probe)
PCONTROL(guest)

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

void pellucid_through_shmem_pcontrol(void (*tool)(int, ...), int level)
{
    tool(level);
}

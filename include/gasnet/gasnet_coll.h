/* GASNet-EX on Pellucid: collectives. Written from the GASNet-EX specification 0.18 (2024.5.0). */
#ifndef _GEX_COLL_H
#define _GEX_COLL_H

#include "gasnetex.h"

typedef void (*gex_Coll_ReduceFn_t)(const void *arg1, void *arg2_and_out, size_t count, const void *cdata);

#ifdef __cplusplus
extern "C" {
#endif

gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes,
                                 gex_Flags_t flags);
gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt, size_t dt_sz,
                                   size_t dt_cnt, gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata,
                                   gex_Flags_t flags);
gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt,
                                   gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);

/*
 * The collectives of GASNet-1, which no specification has: as old clients call them. Each process is one image, and
 * each call is complete when it returns, those that give a handle too.
 */
typedef gex_TM_t gasnet_team_handle_t;
typedef gex_Event_t gasnet_coll_handle_t;
typedef uint32_t gasnet_image_t;
typedef struct {
    void (*fnptr)();
    unsigned int flags;
} gasnet_coll_fn_entry_t;

#define GASNET_TEAM_ALL pellucid_gex_primordial_tm()
#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID
#define GASNET_COLL_IN_NOSYNC 1
#define GASNET_COLL_IN_MYSYNC 2
#define GASNET_COLL_IN_ALLSYNC 4
#define GASNET_COLL_OUT_NOSYNC 8
#define GASNET_COLL_OUT_MYSYNC 16
#define GASNET_COLL_OUT_ALLSYNC 32
#define GASNET_COLL_SINGLE 64
#define GASNET_COLL_LOCAL 128
#define GASNET_COLL_AGGREGATE 256
#define GASNET_COLL_DST_IN_SEGMENT 512
#define GASNET_COLL_SRC_IN_SEGMENT 1024

void pellucid_gex_coll_broadcast(gex_TM_t tm, void *dst, gex_Rank_t root, const void *src, size_t nbytes, int flags);
void pellucid_gex_coll_scatter(gex_TM_t tm, void *dst, gex_Rank_t root, const void *src, size_t nbytes, int flags);
void pellucid_gex_coll_gather(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes, int flags);
void pellucid_gex_coll_gather_all(gex_TM_t tm, void *dst, const void *src, size_t nbytes, int flags);
void pellucid_gex_coll_exchange(gex_TM_t tm, void *dst, const void *src, size_t nbytes, int flags);

static inline void gasnet_coll_init(const gasnet_image_t images[], gasnet_image_t my_image,
                                    gasnet_coll_fn_entry_t fn_table[], size_t fn_count, int flags)
{
    (void)images, (void)my_image, (void)fn_table, (void)fn_count, (void)flags;
}

/* Barriers of a team, with names as those of gasnet_barrier, which is that of GASNET_TEAM_ALL. */
void gasnet_coll_barrier_notify(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_wait(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_try(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier(gasnet_team_handle_t team, int id, int flags);
int gasnet_coll_barrier_result(gasnet_team_handle_t team, int *id);
/* A process is one image, so that its images need no barrier of their own. */
#define GASNET_BARRIERFLAG_IMAGES 0

#define _GEX_COLL_1(name, parameters, arguments) _GEX_COLL_2(name, name, parameters, arguments)
#define _GEX_COLL_2(routine, name, parameters, arguments) \
    static inline void gasnet_coll_##name parameters \
    { \
        pellucid_gex_coll_##routine arguments; \
    } \
    static inline gasnet_coll_handle_t gasnet_coll_##name##_nb parameters \
    { \
        return pellucid_gex_coll_##routine arguments, GASNET_COLL_INVALID_HANDLE; \
    }
_GEX_COLL_1(broadcast, (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes,
    int flags), (team, dst, srcimage, src, nbytes, flags))
_GEX_COLL_1(scatter, (gasnet_team_handle_t team, void *dst, gasnet_image_t srcimage, void *src, size_t nbytes,
    int flags), (team, dst, srcimage, src, nbytes, flags))
_GEX_COLL_1(gather, (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *src, size_t nbytes,
    int flags), (team, dstimage, dst, src, nbytes, flags))
_GEX_COLL_1(gather_all, (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags),
    (team, dst, src, nbytes, flags))
_GEX_COLL_1(exchange, (gasnet_team_handle_t team, void *dst, void *src, size_t nbytes, int flags),
    (team, dst, src, nbytes, flags))
/*
 * Forms with an address for each image: those of this process's images, which is one, or with GASNET_COLL_SINGLE those
 * of all images.
 */
#define _GEX_COLL_MINE(list) ((list)[(flags & GASNET_COLL_SINGLE) ? gex_TM_QueryRank(team) : 0])
_GEX_COLL_2(broadcast, broadcastM, (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
    void *src, size_t nbytes, int flags), (team, _GEX_COLL_MINE(dstlist), srcimage, src, nbytes, flags))
_GEX_COLL_2(scatter, scatterM, (gasnet_team_handle_t team, void *const dstlist[], gasnet_image_t srcimage,
    void *src, size_t nbytes, int flags), (team, _GEX_COLL_MINE(dstlist), srcimage, src, nbytes, flags))
_GEX_COLL_2(gather, gatherM, (gasnet_team_handle_t team, gasnet_image_t dstimage, void *dst, void *const srclist[],
    size_t nbytes, int flags), (team, dstimage, dst, _GEX_COLL_MINE(srclist), nbytes, flags))
_GEX_COLL_2(gather_all, gather_allM, (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
    size_t nbytes, int flags), (team, _GEX_COLL_MINE(dstlist), _GEX_COLL_MINE(srclist), nbytes, flags))
_GEX_COLL_2(exchange, exchangeM, (gasnet_team_handle_t team, void *const dstlist[], void *const srclist[],
    size_t nbytes, int flags), (team, _GEX_COLL_MINE(dstlist), _GEX_COLL_MINE(srclist), nbytes, flags))
static inline int gasnet_coll_try_sync(gasnet_coll_handle_t handle)
{
    return (void)handle, GASNET_OK;
}
static inline void gasnet_coll_wait_sync(gasnet_coll_handle_t handle)
{
    (void)handle;
}

#ifdef __cplusplus
}
#endif

#endif

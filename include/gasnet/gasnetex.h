/*
 * GASNet-EX on Pellucid. Written from the GASNet-EX specification 0.18 (2024.5.0), which says what each of these names
 * means; docs/gasnet.md says what is not there.
 */
#ifndef _GEX_GASNETEX_H
#define _GEX_GASNETEX_H
/* By this name clients tell which headers they have. */
#define _INCLUDED_GASNETEX_H 1

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "gasnet_fwd.h"
#include "pellucid_gex_mode.h"

/* Versions (that of the release is in pellucid_gex_platform.h), and what this library is. */
#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 18
#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR
#ifndef GASNETT_SPEC_VERSION_MAJOR
#define GASNETT_SPEC_VERSION_MAJOR 1
#define GASNETT_SPEC_VERSION_MINOR 20
#endif
#define GASNET_CONDUIT_PELLUCID 1
#define GASNET_CONDUIT_NAME PELLUCID
#define GASNET_CONDUIT_NAME_STR "PELLUCID"
#define GASNET_CONFIG_STRING \
    "RELEASE=2024.5.0,SPEC=0.18,CONDUIT=PELLUCID,THREADMODEL=" _GEX_MODE_STR ",SEGMENT=FAST,PTR=64bit,NOALIGN"

/* Limits and features. */
#define GASNET_MAXNODES 0x7fffffffu
#define GASNET_MAXEPS 33
#define GASNET_PAGESIZE 4096
#define GASNET_SEGMENT_FAST 1
#define GASNET_ALIGNED_SEGMENTS 0
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 0
#define GASNETI_MAX_THREADS GASNETT_MAX_THREADS
#define GASNET_SUPPORTS_TI_SRCRANK 1
#define GASNET_SUPPORTS_TI_EP 1
#define GASNET_SUPPORTS_TI_ENTRY 1
#define GASNET_SUPPORTS_TI_IS_REQ 1
#define GASNET_SUPPORTS_TI_IS_LONG 1
#undef GASNET_NATIVE_NP_ALLOC_REQ_MEDIUM
#undef GASNET_NATIVE_NP_ALLOC_REQ_LONG
#undef GASNET_NATIVE_NP_ALLOC_REP_MEDIUM
#undef GASNET_NATIVE_NP_ALLOC_REP_LONG
#undef GASNET_RCV_THREAD
#undef GASNET_SND_THREAD
#undef GASNET_HAVE_MK_CLASS_MULTIPLE
#undef GASNET_HAVE_MK_CLASS_CUDA_UVA
#undef GASNET_HAVE_MK_CLASS_HIP
#undef GASNET_HAVE_MK_CLASS_ZE

/* Errors. */
#define GASNET_OK 0
#define GASNET_ERR_NOT_INIT 10001
#define GASNET_ERR_BAD_ARG 10002
#define GASNET_ERR_RESOURCE 10003
#define GASNET_ERR_NOT_READY 10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

/* Handles: null is none. */
typedef struct _gex_client *gex_Client_t;
typedef struct _gex_ep *gex_EP_t;
typedef struct _gex_segment *gex_Segment_t;
typedef struct _gex_tm *gex_TM_t;
typedef struct _gex_token *gex_Token_t;
typedef struct _gex_am_srcdesc *gex_AM_SrcDesc_t;
typedef struct _gex_mk *gex_MK_t;

#define GEX_CLIENT_INVALID ((gex_Client_t)0)
#define GEX_EP_INVALID ((gex_EP_t)0)
#define GEX_EP_INDEX_INVALID ((gex_EP_Index_t)0xffffu)
#define GEX_SEGMENT_INVALID ((gex_Segment_t)0)
#define GEX_TM_INVALID ((gex_TM_t)0)
#define GEX_AM_SRCDESC_NO_OP ((gex_AM_SrcDesc_t)0)
#define GEX_MK_INVALID ((gex_MK_t)0)
#define GEX_MK_HOST ((gex_MK_t)(uintptr_t)1)

/* Scalars and structures. */
typedef uint8_t gex_AM_Index_t;
typedef int32_t gex_AM_Arg_t;
typedef void (*gex_AM_Fn_t)();
typedef uintptr_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T 8
typedef uint32_t gex_EC_t;
typedef uint32_t gex_TI_t;

typedef struct {
    void *gex_addr;
    size_t gex_len;
} gex_Memvec_t;

typedef struct {
    gex_Rank_t gex_rank;
    gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;

typedef struct {
    gex_AM_Index_t gex_index;
    gex_AM_Fn_t gex_fnptr;
    gex_Flags_t gex_flags;
    unsigned int gex_nargs;
    const void *gex_cdata;
    const char *gex_name;
} gex_AM_Entry_t;

typedef struct {
    gex_Rank_t gex_srcrank;
    gex_EP_t gex_ep;
    const gex_AM_Entry_t *gex_entry;
    int gex_is_req;
    int gex_is_long;
} gex_Token_Info_t;

typedef const struct {
    gex_Rank_t gex_jobrank;
} gex_RankInfo_t;

typedef struct {
    const char *gex_device_list;
    unsigned int gex_thread_roles;
    void *(*gex_progress_fn)(void *);
    void *gex_progress_arg;
} gex_ProgressThreadInfo_t;

#define GEX_THREAD_ROLE_RCV 1u
#define GEX_THREAD_ROLE_SND 2u

typedef struct {
    uint32_t pellucid_state;
    uint32_t pellucid_owner;
} gex_HSL_t;
#define GEX_HSL_INITIALIZER \
    { \
        0, 0 \
    }

#define GEX_AM_INDEX_BASE 128

#define GEX_TI_SRCRANK ((gex_TI_t)1u)
#define GEX_TI_EP ((gex_TI_t)2u)
#define GEX_TI_ENTRY ((gex_TI_t)4u)
#define GEX_TI_IS_REQ ((gex_TI_t)8u)
#define GEX_TI_IS_LONG ((gex_TI_t)16u)
#define GEX_TI_ALL ((gex_TI_t)31u)

#define GEX_EC_GET ((gex_EC_t)1u)
#define GEX_EC_PUT ((gex_EC_t)2u)
#define GEX_EC_AM ((gex_EC_t)4u)
#define GEX_EC_LC ((gex_EC_t)8u)
#define GEX_EC_RMW ((gex_EC_t)16u)
#define GEX_EC_ALL ((gex_EC_t)31u)

#ifdef __cplusplus
extern "C" {
#endif

/* The job and its hosts. */
gex_Rank_t gex_System_QueryJobRank(void);
gex_Rank_t gex_System_QueryJobSize(void);
int gex_System_GetVerboseErrors(void);
void gex_System_SetVerboseErrors(int enable);
uint64_t gex_System_QueryMaxThreads(void);
int gex_System_QueryHiddenAMConcurrencyLevel(void);
int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p, const gex_ProgressThreadInfo_t **info_p,
                                    gex_Flags_t flags);
void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p, gex_Rank_t *my_info_index_p);
void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p, gex_Rank_t *my_info_index_p);
void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size_p, gex_Rank_t *nbrhd_set_rank_p, gex_Rank_t *host_set_size_p,
                                gex_Rank_t *host_set_rank_p);

/* Clients. */
int _GEX_MODE(gex_Client_Init)(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *clientName,
                               int *argc, char ***argv, gex_Flags_t flags);
static inline int gex_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *clientName,
                                  int *argc, char ***argv, gex_Flags_t flags)
{
    return _GEX_MODE(gex_Client_Init)(client_p, ep_p, tm_p, clientName, argc, argv, flags);
}
gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
const char *gex_Client_QueryName(gex_Client_t client);
void gex_Client_SetCData(gex_Client_t client, const void *val);
void *gex_Client_QueryCData(gex_Client_t client);
void gasnet_exit(int exitcode) __attribute__((__noreturn__));
char *gasnet_getenv(const char *name);
const char *gasnet_ErrorName(int errval);
const char *gasnet_ErrorDesc(int errval);
uintptr_t gasnet_getMaxLocalSegmentSize(void);
uintptr_t gasnet_getMaxGlobalSegmentSize(void);

/* Segments. */
int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size);
/* Called with the segment once it is there, before anyone reaches it. */
extern void (*gasnet_client_attach_hook)(void *address, uintptr_t size);
int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address, uintptr_t length,
                       gex_MK_t kind, gex_Flags_t flags);
void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);
gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg);
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg);
void *gex_Segment_QueryAddr(gex_Segment_t seg);
uintptr_t gex_Segment_QuerySize(gex_Segment_t seg);
int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p, uintptr_t *size_p);
void gex_Segment_SetCData(gex_Segment_t seg, const void *val);
void *gex_Segment_QueryCData(gex_Segment_t seg);

/* Endpoints. */
int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities, gex_Flags_t flags);
int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t *table, size_t numentries);
int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);
int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags);
gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p,
                                       uintptr_t *size_p, gex_Flags_t flags);
gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);
void gex_EP_SetCData(gex_EP_t ep, const void *val);
void *gex_EP_QueryCData(gex_EP_t ep);

/* Teams. */
size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key, void *scratch_addr, size_t scratch_size,
                    gex_Flags_t flags);
size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t *args, size_t numargs,
                     gex_Addr_t *scratch_addrs, size_t scratch_size, gex_Flags_t flags);
int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags);
gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);
gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm);
gex_Rank_t gex_TM_QueryRank(gex_TM_t tm);
gex_Rank_t gex_TM_QuerySize(gex_TM_t tm);
gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags);
void gex_TM_SetCData(gex_TM_t tm, const void *val);
void *gex_TM_QueryCData(gex_TM_t tm);

/* Active messages: limits, tokens, progress. What sends them is in pellucid_gex_am.h. */
unsigned int gex_AM_MaxArgs(void);
size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                             unsigned int numargs);
size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                           unsigned int numargs);
size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                               unsigned int numargs);
size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t *lc_opt, gex_Flags_t flags,
                             unsigned int numargs);
size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);
size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int numargs);
size_t gex_AM_LUBRequestLong(void);
size_t gex_AM_LUBReplyLong(void);
size_t gex_AM_LUBRequestMedium(void);
size_t gex_AM_LUBReplyMedium(void);
gex_TI_t gex_Token_Info(gex_Token_t token, gex_Token_Info_t *info, gex_TI_t mask);
gex_AM_SrcDesc_t gex_AM_PrepareRequestMedium(gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload,
                                             size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags,
                                             unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyMedium(gex_Token_t token, const void *client_buf, size_t least_payload,
                                           size_t most_payload, gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareRequestLong(gex_TM_t tm, gex_Rank_t rank, const void *client_buf, size_t least_payload,
                                           size_t most_payload, void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags,
                                           unsigned int numargs);
gex_AM_SrcDesc_t gex_AM_PrepareReplyLong(gex_Token_t token, const void *client_buf, size_t least_payload,
                                         size_t most_payload, void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags,
                                         unsigned int numargs);
void *gex_AM_SrcDescAddr(gex_AM_SrcDesc_t sd);
size_t gex_AM_SrcDescSize(gex_AM_SrcDesc_t sd);
#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2
int gasnet_set_waitmode(int wait_mode);
int gasnet_AMPoll(void);
void pellucid_gex_idle(uint64_t *wait);
void pellucid_gex_idle_over(const uint64_t *wait);
#define GASNET_BLOCKUNTIL(cond) \
    do { \
        uint64_t _gex_wait[2] = {0, 0}; \
        while (!(cond)) \
            pellucid_gex_idle(_gex_wait); \
        if (_gex_wait[1] != 0) \
            pellucid_gex_idle_over(_gex_wait); \
    } while (0)

/* Events and groups of operations. */
int gex_Event_Test(gex_Event_t event);
void gex_Event_Wait(gex_Event_t event);
int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);
void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);
int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);

/* Remote memory access. */
int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Flags_t flags);
int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt,
                   gex_Flags_t flags);
gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt,
                          gex_Flags_t flags);
int gex_RMA_GetBlocking(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags);
int gex_RMA_GetNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags);
gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags);
gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags);
int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                           gex_Flags_t flags);
int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                      gex_Flags_t flags);
gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                             gex_Flags_t flags);

/* Handler-safe locks. */
void gex_HSL_Init(gex_HSL_t *hsl);
void gex_HSL_Destroy(gex_HSL_t *hsl);
void gex_HSL_Lock(gex_HSL_t *hsl);
void gex_HSL_Unlock(gex_HSL_t *hsl);
int gex_HSL_Trylock(gex_HSL_t *hsl);

/* ThreadSanitizer does not see the library: it is told what a lock orders. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PELLUCID_GEX_TELLS_OF_LOCKS
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(PELLUCID_GEX_TELLS_OF_LOCKS)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
static inline void pellucid_gex_lock(gex_HSL_t *hsl)
{
    gex_HSL_Lock(hsl);
    __tsan_acquire(hsl);
}
static inline void pellucid_gex_unlock(gex_HSL_t *hsl)
{
    __tsan_release(hsl);
    gex_HSL_Unlock(hsl);
}
static inline int pellucid_gex_trylock(gex_HSL_t *hsl)
{
    int answer = gex_HSL_Trylock(hsl);
    if (answer == 0)
        __tsan_acquire(hsl);
    return answer;
}
#define gex_HSL_Lock pellucid_gex_lock
#define gex_HSL_Unlock pellucid_gex_unlock
#define gex_HSL_Trylock pellucid_gex_trylock
#endif
#undef PELLUCID_GEX_TELLS_OF_LOCKS

/* The barriers, which are the collectives that need no further header: of a team, and that of GASNet-1. */
gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);
#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH 2
/* As the first, where no PE has a name. */
#define GASNET_BARRIERFLAG_UNNAMED 4
void gasnet_barrier_notify(int id, int flags);
int gasnet_barrier_wait(int id, int flags);
int gasnet_barrier_try(int id, int flags);
int gasnet_barrier(int id, int flags);
int gasnet_barrier_result(int *id);
gex_TM_t pellucid_gex_primordial_tm(void);

#ifdef __cplusplus
}
#endif

#include "pellucid_gex_am.h"
#include "gasnet_tools.h"

#endif

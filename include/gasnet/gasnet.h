/*
 * The GASNet-1 interface on Pellucid, over that of GASNet-EX. Written from the GASNet specification 1.8.1 and the
 * extensions for memory that is not contiguous.
 */
#ifndef _GEX_GASNET1_H
#define _GEX_GASNET1_H
#define _INCLUDED_GASNET_H 1

#include "gasnetex.h"
#include "gasnet_vis.h"

typedef gex_Rank_t gasnet_node_t;
typedef gex_Event_t gasnet_handle_t;
typedef gex_AM_Index_t gasnet_handler_t;
typedef gex_AM_Arg_t gasnet_handlerarg_t;
typedef gex_Token_t gasnet_token_t;
typedef gex_RMA_Value_t gasnet_register_value_t;
typedef gex_RMA_Value_t gasnet_valget_handle_t;
typedef gex_HSL_t gasnet_hsl_t;
typedef void *gasnet_threadinfo_t;
#define SIZEOF_GASNET_REGISTER_VALUE_T SIZEOF_GEX_RMA_VALUE_T
#define GASNET_INVALID_HANDLE GEX_EVENT_INVALID
#define GASNET_HSL_INITIALIZER GEX_HSL_INITIALIZER
#define GASNET_GET_THREADINFO() ((gasnet_threadinfo_t)0)
#define GASNET_POST_THREADINFO(info) enum { _gex_no_threadinfo = sizeof(info) }
#define GASNET_BEGIN_FUNCTION() enum { _gex_no_function }

typedef struct {
    gasnet_handler_t index;
    void (*fnptr)();
} gasnet_handlerentry_t;

typedef struct {
    void *addr;
    uintptr_t size;
} gasnet_seginfo_t;

typedef struct {
    void *addr;
    size_t len;
} gasnet_memvec_t;

typedef struct {
    gasnet_node_t host;
    gasnet_node_t supernode;
    intptr_t offset;
} gasnet_nodeinfo_t;

#ifdef __cplusplus
extern "C" {
#endif

int _GEX_MODE(gasnet_init)(int *argc, char ***argv);
static inline int gasnet_init(int *argc, char ***argv)
{
    return _GEX_MODE(gasnet_init)(argc, argv);
}
int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize, uintptr_t minheapoffset);
void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *endpoint_p, gex_TM_t *tm_p, gex_Segment_t *segment_p);
int gasnet_getSegmentInfo(gasnet_seginfo_t *seginfo_table, int numentries);
int gasnet_getNodeInfo(gasnet_nodeinfo_t *nodeinfo_table, int numentries);
int gasnet_AMGetMsgSource(gasnet_token_t token, gasnet_node_t *srcindex);
void gasnet_hold_interrupts(void);
void gasnet_resume_interrupts(void);
void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes);

#define gasnet_mynode() gex_System_QueryJobRank()
#define gasnet_nodes() gex_System_QueryJobSize()
#define gasnet_AMMaxArgs() ((size_t)gex_AM_MaxArgs())
#define gasnet_AMMaxMedium() gex_AM_LUBRequestMedium()
#define gasnet_AMMaxLongRequest() gex_AM_LUBRequestLong()
#define gasnet_AMMaxLongReply() gex_AM_LUBReplyLong()
#define gasnet_hsl_init(hsl) gex_HSL_Init(hsl)
#define gasnet_hsl_destroy(hsl) gex_HSL_Destroy(hsl)
#define gasnet_hsl_lock(hsl) gex_HSL_Lock(hsl)
#define gasnet_hsl_trylock(hsl) gex_HSL_Trylock(hsl)
#define gasnet_hsl_unlock(hsl) gex_HSL_Unlock(hsl)

#define _GEX_TM pellucid_gex_primordial_tm()

static inline void gasnet_get(void *dest, gasnet_node_t node, void *src, size_t nbytes)
{
    (void)gex_RMA_GetBlocking(_GEX_TM, dest, node, src, nbytes, 0);
}
static inline void gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
    (void)gex_RMA_PutBlocking(_GEX_TM, node, dest, src, nbytes, 0);
}
static inline gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node, void *src, size_t nbytes)
{
    return gex_RMA_GetNB(_GEX_TM, dest, node, src, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
    return gex_RMA_PutNB(_GEX_TM, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
static inline void gasnet_get_nbi(void *dest, gasnet_node_t node, void *src, size_t nbytes)
{
    (void)gex_RMA_GetNBI(_GEX_TM, dest, node, src, nbytes, 0);
}
static inline void gasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
    (void)gex_RMA_PutNBI(_GEX_TM, node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
static inline void gasnet_get_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes)
{
    (void)gex_RMA_GetBlocking(_GEX_TM, dest, node, src, nbytes, 0);
}
static inline void gasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
    (void)gex_RMA_PutBlocking(_GEX_TM, node, dest, src, nbytes, 0);
}
static inline gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes)
{
    return gex_RMA_GetNB(_GEX_TM, dest, node, src, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
    return gex_RMA_PutNB(_GEX_TM, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}
static inline void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes)
{
    (void)gex_RMA_GetNBI(_GEX_TM, dest, node, src, nbytes, 0);
}
static inline void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes)
{
    (void)gex_RMA_PutNBI(_GEX_TM, node, dest, src, nbytes, GEX_EVENT_DEFER, 0);
}
static inline gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
    return gasnet_memset(node, dest, val, nbytes), GASNET_INVALID_HANDLE;
}
static inline void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes)
{
    gasnet_memset(node, dest, val, nbytes);
}
static inline void gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes)
{
    (void)gex_RMA_PutBlockingVal(_GEX_TM, node, dest, value, nbytes, 0);
}
static inline gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t
    nbytes)
{
    return gex_RMA_PutNBVal(_GEX_TM, node, dest, value, nbytes, 0);
}
static inline void gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value, size_t nbytes)
{
    (void)gex_RMA_PutNBIVal(_GEX_TM, node, dest, value, nbytes, 0);
}
static inline gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void *src, size_t nbytes)
{
    return gex_RMA_GetBlockingVal(_GEX_TM, node, src, nbytes, 0);
}
static inline gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void *src, size_t nbytes)
{
    return gex_RMA_GetBlockingVal(_GEX_TM, node, src, nbytes, 0);
}
static inline gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle)
{
    return handle;
}

/* Synchronization: those that try look for messages first. */
static inline void gasnet_wait_syncnb(gasnet_handle_t handle)
{
    gex_Event_Wait(handle);
}
static inline int gasnet_try_syncnb(gasnet_handle_t handle)
{
    return (void)gasnet_AMPoll(), gex_Event_Test(handle);
}
static inline void gasnet_wait_syncnb_all(gasnet_handle_t *handles, size_t numhandles)
{
    gex_Event_WaitAll(handles, numhandles, 0);
}
static inline int gasnet_try_syncnb_all(gasnet_handle_t *handles, size_t numhandles)
{
    return (void)gasnet_AMPoll(), gex_Event_TestAll(handles, numhandles, 0);
}
static inline void gasnet_wait_syncnb_some(gasnet_handle_t *handles, size_t numhandles)
{
    gex_Event_WaitSome(handles, numhandles, 0);
}
static inline int gasnet_try_syncnb_some(gasnet_handle_t *handles, size_t numhandles)
{
    return (void)gasnet_AMPoll(), gex_Event_TestSome(handles, numhandles, 0);
}
static inline void gasnet_wait_syncnbi_gets(void)
{
    gex_NBI_Wait(GEX_EC_GET, 0);
}
static inline int gasnet_try_syncnbi_gets(void)
{
    return (void)gasnet_AMPoll(), gex_NBI_Test(GEX_EC_GET, 0);
}
static inline void gasnet_wait_syncnbi_puts(void)
{
    gex_NBI_Wait(GEX_EC_PUT, 0);
}
static inline int gasnet_try_syncnbi_puts(void)
{
    return (void)gasnet_AMPoll(), gex_NBI_Test(GEX_EC_PUT, 0);
}
static inline void gasnet_wait_syncnbi_all(void)
{
    gex_NBI_Wait(GEX_EC_GET | GEX_EC_PUT, 0);
}
static inline int gasnet_try_syncnbi_all(void)
{
    return (void)gasnet_AMPoll(), gex_NBI_Test(GEX_EC_GET | GEX_EC_PUT, 0);
}
static inline void gasnet_begin_nbi_accessregion(void)
{
    gex_NBI_BeginAccessRegion(0);
}
static inline gasnet_handle_t gasnet_end_nbi_accessregion(void)
{
    return gex_NBI_EndAccessRegion(0);
}

/* Vectors, index lists and strides. */
static inline void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t
    srccount, gasnet_memvec_t const srclist[])
{
    (void)gex_VIS_VectorPutBlocking(_GEX_TM, dstnode, dstcount, (gex_Memvec_t const *)dstlist, srccount,
        (gex_Memvec_t const *)srclist, 0);
}
static inline void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t
    srccount, gasnet_memvec_t const srclist[])
{
    (void)gex_VIS_VectorGetBlocking(_GEX_TM, dstcount, (gex_Memvec_t const *)dstlist, srcnode, srccount,
        (gex_Memvec_t const *)srclist, 0);
}
static inline void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
    size_t srccount, void *const srclist[], size_t srclen)
{
    (void)gex_VIS_IndexedPutBlocking(_GEX_TM, dstnode, dstcount, dstlist, dstlen, srccount, srclist, srclen, 0);
}
static inline void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
    size_t srccount, void *const srclist[], size_t srclen)
{
    (void)gex_VIS_IndexedGetBlocking(_GEX_TM, dstcount, dstlist, dstlen, srcnode, srccount, srclist, srclen, 0);
}
static inline void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], const void
    *srcaddr,
    const size_t srcstrides[], const size_t count[], size_t stridelevels)
{
    (void)gex_VIS_StridedPutBlocking(_GEX_TM, dstnode, dstaddr, (const ptrdiff_t *)dststrides, srcaddr, (const
        ptrdiff_t *)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr,
    const size_t srcstrides[], const size_t count[], size_t stridelevels)
{
    (void)gex_VIS_StridedGetBlocking(_GEX_TM, dstaddr, (const ptrdiff_t *)dststrides, srcnode, srcaddr, (const
        ptrdiff_t *)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const
    dstlist[], size_t srccount, gasnet_memvec_t const srclist[])
{
    return gex_VIS_VectorPutNB(_GEX_TM, dstnode, dstcount, (gex_Memvec_t const *)dstlist, srccount,
        (gex_Memvec_t const *)srclist, 0);
}
static inline gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t
    srcnode, size_t srccount, gasnet_memvec_t const srclist[])
{
    return gex_VIS_VectorGetNB(_GEX_TM, dstcount, (gex_Memvec_t const *)dstlist, srcnode, srccount,
        (gex_Memvec_t const *)srclist, 0);
}
static inline gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[],
    size_t dstlen, size_t srccount, void *const srclist[], size_t srclen)
{
    return gex_VIS_IndexedPutNB(_GEX_TM, dstnode, dstcount, dstlist, dstlen, srccount, srclist, srclen, 0);
}
static inline gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t
    srcnode, size_t srccount, void *const srclist[], size_t srclen)
{
    return gex_VIS_IndexedGetNB(_GEX_TM, dstcount, dstlist, dstlen, srcnode, srccount, srclist, srclen, 0);
}
static inline gasnet_handle_t gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[],
    const void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels)
{
    return gex_VIS_StridedPutNB(_GEX_TM, dstnode, dstaddr, (const ptrdiff_t *)dststrides, srcaddr, (const
        ptrdiff_t *)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline gasnet_handle_t gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode,
    void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels)
{
    return gex_VIS_StridedGetNB(_GEX_TM, dstaddr, (const ptrdiff_t *)dststrides, srcnode, srcaddr, (const
        ptrdiff_t *)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[],
    size_t srccount, gasnet_memvec_t const srclist[])
{
    (void)gex_VIS_VectorPutNBI(_GEX_TM, dstnode, dstcount, (gex_Memvec_t const *)dstlist, srccount,
        (gex_Memvec_t const *)srclist, 0);
}
static inline void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode,
    size_t srccount, gasnet_memvec_t const srclist[])
{
    (void)gex_VIS_VectorGetNBI(_GEX_TM, dstcount, (gex_Memvec_t const *)dstlist, srcnode, srccount,
        (gex_Memvec_t const *)srclist, 0);
}
static inline void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen,
    size_t srccount, void *const srclist[], size_t srclen)
{
    (void)gex_VIS_IndexedPutNBI(_GEX_TM, dstnode, dstcount, dstlist, dstlen, srccount, srclist, srclen, 0);
}
static inline void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode,
    size_t srccount, void *const srclist[], size_t srclen)
{
    (void)gex_VIS_IndexedGetNBI(_GEX_TM, dstcount, dstlist, dstlen, srcnode, srccount, srclist, srclen, 0);
}
static inline void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], const void
    *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels)
{
    (void)gex_VIS_StridedPutNBI(_GEX_TM, dstnode, dstaddr, (const ptrdiff_t *)dststrides, srcaddr, (const
        ptrdiff_t *)srcstrides, count[0], count + 1, stridelevels, 0);
}
static inline void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void
    *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels)
{
    (void)gex_VIS_StridedGetNBI(_GEX_TM, dstaddr, (const ptrdiff_t *)dststrides, srcnode, srcaddr, (const
        ptrdiff_t *)srcstrides, count[0], count + 1, stridelevels, 0);
}

/* Active messages, for each number of arguments. */
#define _GEX_AM1_FUNCTIONS(N) \
    static inline int gasnet_AMRequestShort##N(gasnet_node_t dest, gasnet_handler_t handler _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_short(_GEX_TM, dest, handler, 0, N, _gex_args); \
    } \
    static inline int gasnet_AMRequestMedium##N(gasnet_node_t dest, gasnet_handler_t handler, const void *source_addr, \
        size_t nbytes _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_medium(_GEX_TM, dest, handler, source_addr, nbytes, GEX_EVENT_NOW, 0, N, \
            _gex_args); \
    } \
    static inline int gasnet_AMRequestLong##N(gasnet_node_t dest, gasnet_handler_t handler, const void *source_addr, \
        size_t nbytes, void *dest_addr _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_long(_GEX_TM, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, \
            0, N, _gex_args); \
    } \
    static inline int gasnet_AMRequestLongAsync##N(gasnet_node_t dest, gasnet_handler_t handler, const void \
        *source_addr, size_t nbytes, void *dest_addr _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_long(_GEX_TM, dest, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, \
            0, N, _gex_args); \
    } \
    static inline int gasnet_AMReplyShort##N(gasnet_token_t token, gasnet_handler_t handler _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_reply_short(token, handler, 0, N, _gex_args); \
    } \
    static inline int gasnet_AMReplyMedium##N(gasnet_token_t token, gasnet_handler_t handler, const void *source_addr, \
        size_t nbytes _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_reply_medium(token, handler, source_addr, nbytes, GEX_EVENT_NOW, 0, N, _gex_args); \
    } \
    static inline int gasnet_AMReplyLong##N(gasnet_token_t token, gasnet_handler_t handler, const void *source_addr, \
        size_t nbytes, void *dest_addr _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_reply_long(token, handler, source_addr, nbytes, dest_addr, GEX_EVENT_NOW, 0, N, \
            _gex_args); \
    }

_GEX_AM1_FUNCTIONS(0)
_GEX_AM1_FUNCTIONS(1)
_GEX_AM1_FUNCTIONS(2)
_GEX_AM1_FUNCTIONS(3)
_GEX_AM1_FUNCTIONS(4)
_GEX_AM1_FUNCTIONS(5)
_GEX_AM1_FUNCTIONS(6)
_GEX_AM1_FUNCTIONS(7)
_GEX_AM1_FUNCTIONS(8)
_GEX_AM1_FUNCTIONS(9)
_GEX_AM1_FUNCTIONS(10)
_GEX_AM1_FUNCTIONS(11)
_GEX_AM1_FUNCTIONS(12)
_GEX_AM1_FUNCTIONS(13)
_GEX_AM1_FUNCTIONS(14)
_GEX_AM1_FUNCTIONS(15)
_GEX_AM1_FUNCTIONS(16)

#ifdef __cplusplus
}
#endif

#endif

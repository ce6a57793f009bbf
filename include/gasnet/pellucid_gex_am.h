/*
 * What sends active messages: a function for each number of arguments, and without a number a macro that counts them.
 * Each puts its arguments into an array and calls the library.
 */
#ifndef _GEX_AM_H
#define _GEX_AM_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

int pellucid_gex_request_short(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t flags, unsigned int
    n, const gex_AM_Arg_t *args);
int pellucid_gex_request_medium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr, size_t
    nbytes, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int n, const gex_AM_Arg_t *args);
int pellucid_gex_request_long(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *source_addr, size_t
    nbytes, void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int n, const gex_AM_Arg_t *args);
int pellucid_gex_reply_short(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags, unsigned int n, const
    gex_AM_Arg_t *args);
int pellucid_gex_reply_medium(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, size_t nbytes,
    gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int n, const gex_AM_Arg_t *args);
int pellucid_gex_reply_long(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, size_t nbytes, void
    *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags, unsigned int n, const gex_AM_Arg_t *args);
void pellucid_gex_commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, unsigned int n,
    const gex_AM_Arg_t *args);
void pellucid_gex_commit_reply_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, unsigned int n,
    const gex_AM_Arg_t *args);
void pellucid_gex_commit_request_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest_addr,
    unsigned int n, const gex_AM_Arg_t *args);
void pellucid_gex_commit_reply_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, void *dest_addr,
    unsigned int n, const gex_AM_Arg_t *args);

#ifdef __cplusplus
}
#endif

/* Parameters and values of each number of arguments. */
#define _GEX_AM_P0
#define _GEX_AM_V0 0
#define _GEX_AM_P1 _GEX_AM_P0, gex_AM_Arg_t a0
#define _GEX_AM_P2 _GEX_AM_P1, gex_AM_Arg_t a1
#define _GEX_AM_P3 _GEX_AM_P2, gex_AM_Arg_t a2
#define _GEX_AM_P4 _GEX_AM_P3, gex_AM_Arg_t a3
#define _GEX_AM_P5 _GEX_AM_P4, gex_AM_Arg_t a4
#define _GEX_AM_P6 _GEX_AM_P5, gex_AM_Arg_t a5
#define _GEX_AM_P7 _GEX_AM_P6, gex_AM_Arg_t a6
#define _GEX_AM_P8 _GEX_AM_P7, gex_AM_Arg_t a7
#define _GEX_AM_P9 _GEX_AM_P8, gex_AM_Arg_t a8
#define _GEX_AM_P10 _GEX_AM_P9, gex_AM_Arg_t a9
#define _GEX_AM_P11 _GEX_AM_P10, gex_AM_Arg_t a10
#define _GEX_AM_P12 _GEX_AM_P11, gex_AM_Arg_t a11
#define _GEX_AM_P13 _GEX_AM_P12, gex_AM_Arg_t a12
#define _GEX_AM_P14 _GEX_AM_P13, gex_AM_Arg_t a13
#define _GEX_AM_P15 _GEX_AM_P14, gex_AM_Arg_t a14
#define _GEX_AM_P16 _GEX_AM_P15, gex_AM_Arg_t a15
#define _GEX_AM_V1 a0
#define _GEX_AM_V2 _GEX_AM_V1, a1
#define _GEX_AM_V3 _GEX_AM_V2, a2
#define _GEX_AM_V4 _GEX_AM_V3, a3
#define _GEX_AM_V5 _GEX_AM_V4, a4
#define _GEX_AM_V6 _GEX_AM_V5, a5
#define _GEX_AM_V7 _GEX_AM_V6, a6
#define _GEX_AM_V8 _GEX_AM_V7, a7
#define _GEX_AM_V9 _GEX_AM_V8, a8
#define _GEX_AM_V10 _GEX_AM_V9, a9
#define _GEX_AM_V11 _GEX_AM_V10, a10
#define _GEX_AM_V12 _GEX_AM_V11, a11
#define _GEX_AM_V13 _GEX_AM_V12, a12
#define _GEX_AM_V14 _GEX_AM_V13, a13
#define _GEX_AM_V15 _GEX_AM_V14, a14
#define _GEX_AM_V16 _GEX_AM_V15, a15

#define _GEX_AM_ARRAY(N) const gex_AM_Arg_t _gex_args[] = {_GEX_AM_V##N}

#define _GEX_AM_FUNCTIONS(N) \
    static inline int gex_AM_RequestShort##N(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, gex_Flags_t \
        flags _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_short(tm, rank, handler, flags, N, _gex_args); \
    } \
    static inline int gex_AM_RequestMedium##N(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void \
        *source_addr, size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_medium(tm, rank, handler, source_addr, nbytes, lc_opt, flags, N, _gex_args); \
    } \
    static inline int gex_AM_RequestLong##N(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void \
        *source_addr, size_t nbytes, void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_request_long(tm, rank, handler, source_addr, nbytes, dest_addr, lc_opt, flags, N, \
            _gex_args); \
    } \
    static inline int gex_AM_ReplyShort##N(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags \
        _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_reply_short(token, handler, flags, N, _gex_args); \
    } \
    static inline int gex_AM_ReplyMedium##N(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, \
        size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_reply_medium(token, handler, source_addr, nbytes, lc_opt, flags, N, _gex_args); \
    } \
    static inline int gex_AM_ReplyLong##N(gex_Token_t token, gex_AM_Index_t handler, const void *source_addr, \
        size_t nbytes, void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        return pellucid_gex_reply_long(token, handler, source_addr, nbytes, dest_addr, lc_opt, flags, N, \
            _gex_args); \
    } \
    static inline void gex_AM_CommitRequestMedium##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes \
        _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        pellucid_gex_commit_request_medium(sd, handler, nbytes, N, _gex_args); \
    } \
    static inline void gex_AM_CommitReplyMedium##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes \
        _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        pellucid_gex_commit_reply_medium(sd, handler, nbytes, N, _gex_args); \
    } \
    static inline void gex_AM_CommitRequestLong##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, \
        void *dest_addr _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        pellucid_gex_commit_request_long(sd, handler, nbytes, dest_addr, N, _gex_args); \
    } \
    static inline void gex_AM_CommitReplyLong##N(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes, \
        void *dest_addr _GEX_AM_P##N) \
    { \
        _GEX_AM_ARRAY(N); \
        pellucid_gex_commit_reply_long(sd, handler, nbytes, dest_addr, N, _gex_args); \
    }

_GEX_AM_FUNCTIONS(0)
_GEX_AM_FUNCTIONS(1)
_GEX_AM_FUNCTIONS(2)
_GEX_AM_FUNCTIONS(3)
_GEX_AM_FUNCTIONS(4)
_GEX_AM_FUNCTIONS(5)
_GEX_AM_FUNCTIONS(6)
_GEX_AM_FUNCTIONS(7)
_GEX_AM_FUNCTIONS(8)
_GEX_AM_FUNCTIONS(9)
_GEX_AM_FUNCTIONS(10)
_GEX_AM_FUNCTIONS(11)
_GEX_AM_FUNCTIONS(12)
_GEX_AM_FUNCTIONS(13)
_GEX_AM_FUNCTIONS(14)
_GEX_AM_FUNCTIONS(15)
_GEX_AM_FUNCTIONS(16)

/* The number of arguments behind the first few of a list, and a name with that number. */
#define _GEX_AM_PICK( \
    _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, \
    _24, N, ...) \
    N
#define _GEX_AM_CAT(name, n) _GEX_AM_CAT_(name, n)
#define _GEX_AM_CAT_(name, n) name##n
#define _GEX_AM_N3(...) \
    _GEX_AM_PICK(__VA_ARGS__, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0)
#define _GEX_AM_N4(...) \
    _GEX_AM_PICK(__VA_ARGS__, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0)
#define _GEX_AM_N6(...) \
    _GEX_AM_PICK(__VA_ARGS__, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0)
#define _GEX_AM_N7(...) \
    _GEX_AM_PICK(__VA_ARGS__, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define _GEX_AM_N8(...) \
    _GEX_AM_PICK(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define gex_AM_RequestShort(...) _GEX_AM_CAT(gex_AM_RequestShort, _GEX_AM_N4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestMedium(...) _GEX_AM_CAT(gex_AM_RequestMedium, _GEX_AM_N7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_RequestLong(...) _GEX_AM_CAT(gex_AM_RequestLong, _GEX_AM_N8(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyShort(...) _GEX_AM_CAT(gex_AM_ReplyShort, _GEX_AM_N3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyMedium(...) _GEX_AM_CAT(gex_AM_ReplyMedium, _GEX_AM_N6(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_ReplyLong(...) _GEX_AM_CAT(gex_AM_ReplyLong, _GEX_AM_N7(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestMedium(...) _GEX_AM_CAT(gex_AM_CommitRequestMedium, _GEX_AM_N3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyMedium(...) _GEX_AM_CAT(gex_AM_CommitReplyMedium, _GEX_AM_N3(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitRequestLong(...) _GEX_AM_CAT(gex_AM_CommitRequestLong, _GEX_AM_N4(__VA_ARGS__))(__VA_ARGS__)
#define gex_AM_CommitReplyLong(...) _GEX_AM_CAT(gex_AM_CommitReplyLong, _GEX_AM_N4(__VA_ARGS__))(__VA_ARGS__)

#endif

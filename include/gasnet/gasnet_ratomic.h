/* GASNet-EX on Pellucid: remote atomics. Written from the GASNet-EX specification 0.18 (2024.5.0). */
#ifndef _GEX_RATOMIC_H
#define _GEX_RATOMIC_H

#include "gasnetex.h"

typedef struct _gex_ad *gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)

#ifdef __cplusplus
extern "C" {
#endif

void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags);
void gex_AD_Destroy(gex_AD_t ad);
gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
void gex_AD_SetCData(gex_AD_t ad, const void *val);
void *gex_AD_QueryCData(gex_AD_t ad);

#define _GEX_AD_FUNCTIONS(DT, type) \
    gex_Event_t gex_AD_OpNB_##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode, \
                                 type operand1, type operand2, gex_Flags_t flags); \
    int gex_AD_OpNBI_##DT(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode, \
                          type operand1, type operand2, gex_Flags_t flags);

_GEX_AD_FUNCTIONS(I32, int32_t)
_GEX_AD_FUNCTIONS(U32, uint32_t)
_GEX_AD_FUNCTIONS(I64, int64_t)
_GEX_AD_FUNCTIONS(U64, uint64_t)
_GEX_AD_FUNCTIONS(FLT, float)
_GEX_AD_FUNCTIONS(DBL, double)

#ifdef __cplusplus
}
#endif

#endif

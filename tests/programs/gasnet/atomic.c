/* Atomics domains: all types and operations, and counts that many make together. */
#include "job.h"
#include <gasnet_ratomic.h>

#define ALL_OPS \
    (GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX | GEX_OP_INC | GEX_OP_DEC | GEX_OP_SET | \
     GEX_OP_CAS | GEX_OP_GET | GEX_OP_FADD | GEX_OP_FSUB | GEX_OP_FMULT | GEX_OP_FMIN | GEX_OP_FMAX | GEX_OP_FINC | \
     GEX_OP_FDEC | GEX_OP_SWAP | GEX_OP_FCAS)
#define BIT_OPS (GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR)

/* One after another on a word that nobody else uses; the value before, and after. */
#define STEP(DT, type, op, a, b, before, after) \
    do { \
        type old_ = (type)99, now_ = 0; \
        gex_Event_Wait(gex_AD_OpNB_##DT(ad, &old_, peer, at, op, (type)(a), (type)(b), 0)); \
        if ((op) > (1u << 15)) \
            CHECK(old_ == (type)(before)); \
        else \
            CHECK(old_ == (type)99); \
        CHECK(gex_AD_OpNBI_##DT(ad, &now_, peer, at, GEX_OP_GET, 0, 0, 0) == 0); \
        gex_NBI_Wait(GEX_EC_GET, 0); \
        CHECK(now_ == (type)(after)); \
    } while (0)

#define SEQUENCE(DT, type) \
    static void steps_##DT(gex_AD_t ad, gex_Rank_t peer, void *at) \
    { \
        STEP(DT, type, GEX_OP_SET, 7, 0, 0, 7); \
        STEP(DT, type, GEX_OP_ADD, 5, 0, 7, 12); \
        STEP(DT, type, GEX_OP_FADD, 3, 0, 12, 15); \
        STEP(DT, type, GEX_OP_SUB, 5, 0, 15, 10); \
        STEP(DT, type, GEX_OP_FSUB, 2, 0, 10, 8); \
        STEP(DT, type, GEX_OP_MULT, 3, 0, 8, 24); \
        STEP(DT, type, GEX_OP_FMULT, 2, 0, 24, 48); \
        STEP(DT, type, GEX_OP_MIN, 40, 0, 48, 40); \
        STEP(DT, type, GEX_OP_FMIN, 50, 0, 40, 40); \
        STEP(DT, type, GEX_OP_MAX, 45, 0, 40, 45); \
        STEP(DT, type, GEX_OP_FMAX, 60, 0, 45, 60); \
        STEP(DT, type, GEX_OP_INC, 0, 0, 60, 61); \
        STEP(DT, type, GEX_OP_FINC, 0, 0, 61, 62); \
        STEP(DT, type, GEX_OP_DEC, 0, 0, 62, 61); \
        STEP(DT, type, GEX_OP_FDEC, 0, 0, 61, 60); \
        STEP(DT, type, GEX_OP_SWAP, 9, 0, 60, 9); \
        STEP(DT, type, GEX_OP_CAS, 9, 11, 9, 11); \
        STEP(DT, type, GEX_OP_CAS, 9, 12, 11, 11); \
        STEP(DT, type, GEX_OP_FCAS, 11, 13, 11, 13); \
        STEP(DT, type, GEX_OP_FCAS, 11, 14, 13, 13); \
    }
#define BITS(DT, type) \
    static void bits_##DT(gex_AD_t ad, gex_Rank_t peer, void *at) \
    { \
        STEP(DT, type, GEX_OP_SET, 0x5a, 0, 0, 0x5a); \
        STEP(DT, type, GEX_OP_AND, 0x3e, 0, 0x5a, 0x1a); \
        STEP(DT, type, GEX_OP_FOR, 0x41, 0, 0x1a, 0x5b); \
        STEP(DT, type, GEX_OP_XOR, 0xff, 0, 0x5b, 0xa4); \
        STEP(DT, type, GEX_OP_FAND, 0xf0, 0, 0xa4, 0xa0); \
        STEP(DT, type, GEX_OP_OR, 0x0f, 0, 0xa0, 0xaf); \
        STEP(DT, type, GEX_OP_FXOR, 0x0f, 0, 0xaf, 0xa0); \
    }

SEQUENCE(I32, int32_t)
SEQUENCE(U32, uint32_t)
SEQUENCE(I64, int64_t)
SEQUENCE(U64, uint64_t)
SEQUENCE(FLT, float)
SEQUENCE(DBL, double)
BITS(I32, int32_t)
BITS(U32, uint32_t)
BITS(I64, int64_t)
BITS(U64, uint64_t)

#define TYPE(DT, ops, run) \
    do { \
        gex_AD_t ad; \
        gex_Rank_t peer; \
        gex_AD_Create(&ad, world, GEX_DT_##DT, ops, 0); \
        CHECK(gex_AD_QueryDT(ad) == GEX_DT_##DT && gex_AD_QueryOps(ad) == (ops) && gex_AD_QueryTM(ad) == world); \
        for (peer = 0; peer < size; peer++) { \
            void *at = segment_of(peer) + 64 + 8 * me; \
            run; \
        } \
        barrier(); \
        gex_AD_Destroy(ad); \
    } while (0)

/* All on the words of rank 0. */
static void together(void)
{
    const int rounds = 500;
    gex_AD_t integers, floats;
    int64_t *count = (int64_t *)segment_of(0), before;
    double *sum = (double *)(segment_of(0) + 8), total = 0;
    int i;
    gex_AD_Create(&integers, world, GEX_DT_I64, GEX_OP_FADD | GEX_OP_GET | GEX_OP_MAX, GEX_FLAG_AD_FAVOR_MY_NBRHD);
    gex_AD_Create(&floats, world, GEX_DT_DBL, GEX_OP_ADD | GEX_OP_GET, 0);
    barrier();
    for (i = 0; i < rounds; i++) {
        CHECK(gex_AD_OpNBI_I64(integers, &before, 0, count, GEX_OP_FADD, 1, 0, GEX_FLAG_RANK_IS_JOBRANK) == 0);
        CHECK(gex_AD_OpNBI_DBL(floats, NULL, 0, sum, GEX_OP_ADD, 0.5, 0, GEX_FLAG_AD_REL | GEX_FLAG_AD_ACQ) == 0);
        gex_NBI_Wait(GEX_EC_RMW, 0);
        CHECK(before >= i && before < (int64_t)size * rounds);
    }
    barrier();
    gex_Event_Wait(gex_AD_OpNB_I64(integers, &before, 0, count, GEX_OP_GET, 0, 0, 0));
    gex_Event_Wait(gex_AD_OpNB_DBL(floats, &total, 0, sum, GEX_OP_GET, 0, 0, 0));
    CHECK(before == (int64_t)size * rounds && total == size * rounds * 0.5);
    barrier();
    gex_AD_Destroy(integers);
    gex_AD_Destroy(floats);
}

int main(int argc, char **argv)
{
    begin(argc, argv, NULL, 0, 4);
    TYPE(I32, ALL_OPS | BIT_OPS, (steps_I32(ad, peer, at), bits_I32(ad, peer, at)));
    TYPE(U32, ALL_OPS | BIT_OPS, (steps_U32(ad, peer, at), bits_U32(ad, peer, at)));
    TYPE(I64, ALL_OPS | BIT_OPS, (steps_I64(ad, peer, at), bits_I64(ad, peer, at)));
    TYPE(U64, ALL_OPS | BIT_OPS, (steps_U64(ad, peer, at), bits_U64(ad, peer, at)));
    TYPE(FLT, ALL_OPS, steps_FLT(ad, peer, at));
    TYPE(DBL, ALL_OPS, steps_DBL(ad, peer, at));
    together();
    CHECK(GEX_OP_TO_FETCHING(GEX_OP_SET) == GEX_OP_SWAP && GEX_OP_TO_NONFETCHING(GEX_OP_FCAS) == GEX_OP_CAS);
    return finish();
}

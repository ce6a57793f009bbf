/* GASNet-EX on Pellucid: kinds of memory. Written from the GASNet-EX specification (memory kinds, 2024.5.0). */
#ifndef _GEX_MK_H
#define _GEX_MK_H

#include "gasnetex.h"

typedef enum {
    GEX_MK_CLASS_HOST,
    GEX_MK_CLASS_CUDA_UVA,
    GEX_MK_CLASS_HIP,
    GEX_MK_CLASS_ZE
} gex_MK_Class_t;

typedef struct {
    uint64_t gex_flags;
    gex_MK_Class_t gex_class;
    union {
        struct {
            int gex_CUdevice;
        } gex_class_cuda_uva;
        struct {
            int gex_hipDevice;
        } gex_class_hip;
        struct {
            void *gex_zeDevice;
            void *gex_zeContext;
            uint32_t gex_zeMemoryOrdinal;
        } gex_class_ze;
    } gex_args;
} gex_MK_Create_args_t;

#ifdef __cplusplus
extern "C" {
#endif

int gex_MK_Create(gex_MK_t *kind_p, gex_Client_t client, const gex_MK_Create_args_t *args, gex_Flags_t flags);
void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#endif

/* What the module shmem_c has no C routine for. */
#include "fortran.h"

#include <stdbool.h>

/* Fortran calls no function with a variable argument list. */
void pellucid_fortran_shmem_pcontrol(int level);

void pellucid_fortran_shmem_pcontrol(int level)
{
    shmem_pcontrol(level);
}

/* Operators on handles. */
#define COMPARE(name, type, operator)                                                                                 \
    bool pellucid_fortran_##name(const type *a, const type *b);                                                       \
    bool pellucid_fortran_##name(const type *a, const type *b)                                                        \
    {                                                                                                                 \
        return *a operator *b;                                                                                        \
    }

COMPARE(same_team, shmem_team_t, ==)
COMPARE(other_team, shmem_team_t, !=)
COMPARE(same_ctx, shmem_ctx_t, ==)
COMPARE(other_ctx, shmem_ctx_t, !=)

/*
 * What the generated sources of the Fortran interface share. Each routine reads the numbers that Fortran passes by
 * reference and jumps to the C function that does the work, so that this returns to the program: the profile counts the
 * call once, at the place in the Fortran source. tests/suites/fortran.rs sees to it that no routine makes a call.
 */
#ifndef PELLUCID_FORTRAN_H
#define PELLUCID_FORTRAN_H

#include "shmem.h"

#include <stddef.h>
#include <stdint.h>

/* C's names of the types that names of functions are made of. */
typedef float _Complex complexf;
typedef double _Complex complexd;

/* Another name of a function. It is weak: a tool or the program may have one of its own. */
#define ALSO(function, name) extern __typeof__(function) name __attribute__((weak, alias(#function)));

/* A number in the registers for INTEGER and for REAL results: pshmem/src/fortran/routines.rs. */
struct pellucid_both {
    long integer;
    float real;
};

/* The work arrays of Fortran have elements of 4 bytes, and room to begin at a multiple of 8: shmem.fh. */
static inline long *pellucid_sync(void *pSync)
{
    return (long *)(((uintptr_t)pSync + 7) & ~(uintptr_t)7);
}

/* Compilers make no jump of a call that does not return; this one is not told. */
void pellucid_global_exit(int status) __asm__("shmem_global_exit");

/* Of libsma, where no C routine does the same: pshmem/src/fortran. */
struct pellucid_both pellucid_fortran_my_pe(void);
struct pellucid_both pellucid_fortran_n_pes(void);
void pellucid_fortran_info_get_name(char *name, int length);
int pellucid_fortran_shpalloc(void **addr, int length, int *errcode, int abort);
int pellucid_fortran_shpdeallc(void **addr, int *errcode, int abort);
int pellucid_fortran_shpclmove(void **addr, int length, int *status, int abort);
void pellucid_fortran_set_lock(void *lock);
void pellucid_fortran_clear_lock(void *lock);
int pellucid_fortran_test_lock(void *lock);

#define PELLUCID_REAL16(operation)                                                                                    \
    void pellucid_fortran_real16_##operation##_to_all(void *dest, const void *source, int nreduce, int PE_start,       \
                                                      int logPE_stride, int PE_size, void *pWrk, long *pSync);
PELLUCID_REAL16(max)
PELLUCID_REAL16(min)
PELLUCID_REAL16(sum)
PELLUCID_REAL16(prod)

#endif

/*
 * Reduction kernels for the types that Rust does not compute with: acc[i] = acc[i] op source[i]. Complex products
 * follow Annex G of the C standard, as the program's own arithmetic does.
 */
#include <complex.h>
#include <stddef.h>

#define KERNEL(name, type, expression) \
    void pellucid_##name(type *restrict acc, const type *restrict source, size_t n); \
    void pellucid_##name(type *restrict acc, const type *restrict source, size_t n) \
    { \
        for (size_t i = 0; i < n; i++) { \
            const type a = acc[i], b = source[i]; \
            acc[i] = (expression); \
        } \
    }

KERNEL(longdouble_sum, long double, a + b)
KERNEL(longdouble_prod, long double, a * b)
KERNEL(longdouble_min, long double, b < a ? b : a)
KERNEL(longdouble_max, long double, b > a ? b : a)
KERNEL(complexd_sum, double _Complex, a + b)
KERNEL(complexd_prod, double _Complex, a * b)
KERNEL(complexf_sum, float _Complex, a + b)
KERNEL(complexf_prod, float _Complex, a * b)

/* IEEE quadruple precision: Fortran's REAL*16, which is no long double on x86. */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 real16;
#else
typedef long double real16;
#endif

KERNEL(real16_sum, real16, a + b)
KERNEL(real16_prod, real16, a * b)
KERNEL(real16_min, real16, b < a ? b : a)
KERNEL(real16_max, real16, b > a ? b : a)

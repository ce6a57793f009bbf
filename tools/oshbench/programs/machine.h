/* What the machine itself needs for the same work: copies and atomic instructions, with nothing around them. */
#ifndef OSHBENCH_MACHINE_H
#define OSHBENCH_MACHINE_H

#include <stdint.h>
#include <string.h>

/* A call the compiler cannot replace by a load and a store. */
static void *(*volatile memcpy_call)(void *, const void *, size_t) = memcpy;

#if defined(__x86_64__)
#include <immintrin.h>
#define XADD_NAME "lock_xadd"
#define XCHG_NAME "xchg"
#define CMPXCHG_NAME "lock_cmpxchg"

static inline long bare_xadd(long *word, long value)
{
    __asm__ volatile("lock xaddq %0, %1" : "+r"(value), "+m"(*word)::"memory");
    return value;
}

static inline long bare_xchg(long *word, long value)
{
    __asm__ volatile("xchgq %0, %1" : "+r"(value), "+m"(*word)::"memory");
    return value;
}

static inline long bare_cmpxchg(long *word, long expected, long value)
{
    __asm__ volatile("lock cmpxchgq %2, %1" : "+a"(expected), "+m"(*word) : "r"(value) : "memory");
    return expected;
}

#define HAVE_STREAM 1
/* Stores that pass the caches by; n a multiple of 64, both aligned to 16. */
static inline void stream_copy(void *to, const void *from, size_t n)
{
    __m128i *t = to;
    const __m128i *f = from;
    for (size_t i = 0; i < n / 16; i += 4) {
        __m128i a = _mm_load_si128(f + i), b = _mm_load_si128(f + i + 1);
        __m128i c = _mm_load_si128(f + i + 2), d = _mm_load_si128(f + i + 3);
        _mm_stream_si128(t + i, a);
        _mm_stream_si128(t + i + 1, b);
        _mm_stream_si128(t + i + 2, c);
        _mm_stream_si128(t + i + 3, d);
    }
    _mm_sfence();
}

#define HAVE_MOVSB 1
static inline void movsb_copy(void *to, const void *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}

#define HAVE_TICKS 1
static inline uint64_t ticks(void)
{
    return __rdtsc();
}
#else
#define XADD_NAME "atomic_add"
#define XCHG_NAME "atomic_exchange"
#define CMPXCHG_NAME "atomic_compare_exchange"

static inline long bare_xadd(long *word, long value)
{
    return __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
}

static inline long bare_xchg(long *word, long value)
{
    return __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
}

static inline long bare_cmpxchg(long *word, long expected, long value)
{
    __atomic_compare_exchange_n(word, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
#endif

/* Copies every element to every second place, as a compiler does it. */
__attribute__((noinline, unused)) static void strided_copy(long *to, ptrdiff_t to_stride, const long *from,
                                                           ptrdiff_t from_stride, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[(ptrdiff_t)i * to_stride] = from[(ptrdiff_t)i * from_stride];
}

#endif

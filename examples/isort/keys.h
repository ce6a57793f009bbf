/* The parts of isort that are not communication: key generation and the local sort. */
#ifndef ISORT_KEYS_H
#define ISORT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t mix64(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The keys of one PE: the same for the same seed and PE. False for a distribution that does not exist. */
static bool make_keys(uint32_t *key, size_t n, const char *distribution, uint64_t seed, int pe)
{
    bool uniform = strcmp(distribution, "uniform") == 0;
    bool gauss = strcmp(distribution, "gauss") == 0; /* mean of four: a hump in the middle */
    bool low = strcmp(distribution, "low") == 0;     /* fourth power: most keys small */
    bool same = strcmp(distribution, "same") == 0;   /* one value: every key goes to one PE */
    if (!uniform && !gauss && !low && !same)
        return false;

    uint64_t stream = mix64(seed) + ((uint64_t)pe << 40);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = mix64(stream + i);
        if (uniform) {
            key[i] = (uint32_t)(r >> 32);
        } else if (gauss) {
            uint64_t s = mix64(r);
            key[i] = (uint32_t)(((r >> 32) + (r & 0xffffffff) + (s >> 32) + (s & 0xffffffff)) / 4);
        } else if (low) {
            uint64_t square = (r >> 32) * (r >> 32) >> 32;
            key[i] = (uint32_t)(square * square >> 32);
        } else {
            key[i] = UINT32_C(0x2545f491);
        }
    }
    return true;
}

/*
 * Sorts n keys by their low, middle and high 11 (10) bits in turn. Three passes leave the result in `scratch` or, where
 * a pass is skipped because all its digits agree, in `key`: the return value says which.
 */
static uint32_t *radix_sort(uint32_t *key, uint32_t *scratch, size_t n)
{
    enum { DIGITS = 1 << 11 };
    static size_t count[3][DIGITS];
    memset(count, 0, sizeof count);
    for (size_t i = 0; i < n; i++) {
        count[0][key[i] & (DIGITS - 1)]++;
        count[1][key[i] >> 11 & (DIGITS - 1)]++;
        count[2][key[i] >> 22]++;
    }
    for (int pass = 0; pass < 3; pass++) {
        int shift = 11 * pass;
        size_t at = 0;
        bool one_digit = false;
        for (int d = 0; d < DIGITS; d++) {
            size_t c = count[pass][d];
            one_digit |= c == n;
            count[pass][d] = at;
            at += c;
        }
        if (one_digit)
            continue;
        for (size_t i = 0; i < n; i++)
            scratch[count[pass][key[i] >> shift & (DIGITS - 1)]++] = key[i];
        uint32_t *other = key;
        key = scratch;
        scratch = other;
    }
    return key;
}

#endif

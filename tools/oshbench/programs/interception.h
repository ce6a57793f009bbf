/*
 * The calls whose interception is measured, as rows of (name, bytes, what runs at level 1, call without its prefix).
 * Short calls are sampled at level 1; what may wait has every call timed, here a free of nothing.
 */
#ifndef OSHBENCH_INTERCEPTION_H
#define OSHBENCH_INTERCEPTION_H

#define LONG_BYTES 2048

#define CALLS(ROW)                                                      \
    ROW(p, 8, "level1", long_p(word, 1, pe))                            \
    ROW(g, 8, "level1", long_g(word, pe))                               \
    ROW(put, 8, "level1", long_put(word, near, 1, pe))                  \
    ROW(get, 8, "level1", long_get(near, word, 1, pe))                  \
    ROW(putmem, 8, "level1", putmem(word, near, 8, pe))                 \
    ROW(fetch_add, 8, "level1", long_atomic_fetch_add(word, 1, pe))     \
    ROW(add, 8, "level1", long_atomic_add(word, 1, pe))                 \
    ROW(swap, 8, "level1", long_atomic_swap(word, 1, pe))               \
    ROW(quiet, 0, "level1", quiet())                                    \
    ROW(putmem, LONG_BYTES, "level1", putmem(word, near, LONG_BYTES, pe)) \
    ROW(free, 0, "timed", free(NULL))

#endif

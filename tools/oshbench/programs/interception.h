/*
 * The calls whose interception is measured, as rows of (name, bytes, what runs at level 1, call without its prefix).
 * Short calls are sampled at level 1; transfers above 1 KiB have every call timed.
 */
#ifndef OSHBENCH_INTERCEPTION_H
#define OSHBENCH_INTERCEPTION_H

#define TIMED_BYTES 2048

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
    ROW(putmem, TIMED_BYTES, "timed", putmem(word, near, TIMED_BYTES, pe))

#endif

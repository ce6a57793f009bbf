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

/*
 * Calls whose instructions are counted with the profile off, for what the library itself takes. At level 1 a tracer
 * cannot tell of most: what may wait is timed there where it is as slow as under a tracer.
 */
#define CALLS_OFF(ROW)                                                                           \
    ROW(n_pes, 0, "", n_pes())                                                                   \
    ROW(ptr, 0, "", ptr(word, pe))                                                               \
    ROW(put_signal, 8, "", long_put_signal(word, near, 1, signal_word, 1, SHMEM_SIGNAL_SET, pe)) \
    ROW(iput, 800, "", long_iput(word, near, 2, 1, 100, pe))                                     \
    ROW(test, 8, "", long_test(word, SHMEM_CMP_GE, LONG_MIN))                                    \
    ROW(wait_until, 8, "", long_wait_until(word, SHMEM_CMP_GE, LONG_MIN))                        \
    ROW(barrier_all, 0, "", barrier_all())                                                       \
    ROW(sync_all, 0, "", sync_all())                                                             \
    ROW(sum, 8, "", long_sum_reduce(SHMEM_TEAM_WORLD, word, word, 1))                            \
    ROW(sum, 1024, "", long_sum_reduce(SHMEM_TEAM_WORLD, word, word, 128))                       \
    ROW(broadcast, 8, "", long_broadcast(SHMEM_TEAM_WORLD, word, word, 1, 0))                    \
    ROW(fcollect, 8, "", long_fcollect(SHMEM_TEAM_WORLD, word, word, 1))                         \
    ROW(collect, 8, "", long_collect(SHMEM_TEAM_WORLD, word, word, 1))                           \
    ROW(alltoall, 8, "", long_alltoall(SHMEM_TEAM_WORLD, word, word, 1))                         \
    ROW(inscan, 8, "", long_sum_inscan(SHMEM_TEAM_WORLD, word, word, 1))

#endif

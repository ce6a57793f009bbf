/* Checks and small helpers of the conformance programs. A failed check prints its place and its PE and ends the
 * process at once, without the library's help: the library may be what is broken. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <shmem.h>

#include "declared.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int me = -1;
static int npes = -1;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) check_failed(__FILE__, __LINE__, #condition, "%s", "");                                      \
    } while (0)

/* Like CHECK, with a printf-style note. */
#define CHECKF(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__);                                   \
    } while (0)

#define CHECK_EQ(a, b)                                                                                                 \
    do {                                                                                                               \
        long long check_a = (long long)(a), check_b = (long long)(b);                                                  \
        if (check_a != check_b) check_failed(__FILE__, __LINE__, #a " == " #b, "%lld != %lld", check_a, check_b);      \
    } while (0)

__attribute__((format(printf, 4, 5), noinline, cold)) static void check_failed(const char *file, int line,
                                                                              const char *condition,
                                                                              const char *format, ...) {
    char note[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "%s:%d: PE %d of %d: failed: %s %s\n", file, line, me, npes, condition, note);
    fflush(stderr);
    _exit(1);
}

/* PEs of one host, numbered one after the other: all of them, unless the suite says that it runs on several hosts. */
static int host_pes(void) {
    const char *told = getenv("TEST_HOST_PES");
    int pes = told != NULL ? atoi(told) : npes;
    return pes < npes ? pes : npes;
}

/* How often something is done that costs nanoseconds on one host and tens of microseconds between hosts. */
static int fewer(int times) { return host_pes() < npes ? (times + 49) / 50 : times; }

/* The first PE of this PE's host, and how many it has. */
static int host_first(void) { return me - me % host_pes(); }
static int host_size(void) { return npes - host_first() < host_pes() ? npes - host_first() : host_pes(); }
static bool on_this_host(int pe) { return pe >= host_first() && pe < host_first() + host_size(); }

/* The path of a temporary file: the same on all PEs, whichever hosts they are on, and this job's alone. Collective. */
static void job_path(char *path, size_t size, const char *name) {
    static long job;
    const char *folder = getenv("TMPDIR");
    if (me == 0) job = (long)getpid();
    shmem_barrier_all();
    job = shmem_long_g(&job, 0);
    snprintf(path, size, "%s/pellucid-%s-%ld", folder ? folder : "/tmp", name, job);
}

/* Initializes the library and fills in `me` and `npes`. */
static void begin(void) {
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECKF(npes >= 1 && me >= 0 && me < npes, "%d of %d", me, npes);
}

/* Finalizes; a program that ends here has passed. */
static int end(void) {
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* A well mixed value for number `k`, the same on every PE. */
static inline uint64_t mix(uint64_t k) {
    k += 0x9e3779b97f4a7c15u;
    k = (k ^ (k >> 30)) * 0xbf58476d1ce4e5b9u;
    k = (k ^ (k >> 27)) * 0x94d049bb133111ebu;
    return k ^ (k >> 31);
}

/* Value number `k` of a type, floating point included (integers convert to it the same way everywhere). */
#define VALUE(TYPE, k) ((TYPE)mix((uint64_t)(k)))

/* A small nonnegative value, exact in every type: for sums. */
#define SMALL(TYPE, k) ((TYPE)(mix((uint64_t)(k)) % 5))

/* Pseudo-random numbers with a state of the caller. */
static inline uint64_t draw(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    return mix(*state);
}

static inline double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Allocates symmetric memory; a failure ends the test. */
static void *symmetric(size_t bytes) {
    void *block = shmem_malloc(bytes);
    CHECKF(block != NULL, "shmem_malloc(%zu)", bytes);
    return block;
}

/* Contexts that the routines with a ctx argument are tried with: the default one, and a private and a shared one of
 * our own where this build can create them. */
static shmem_ctx_t contexts[4];
static int ncontexts;

static void open_contexts(void) {
    ncontexts = 0;
    contexts[ncontexts++] = SHMEM_CTX_DEFAULT;
#ifdef HAVE_shmem_ctx_create
    static const long options[] = {0, SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(shmem_ctx_create(options[i], &contexts[ncontexts]), 0);
        ncontexts++;
    }
#endif
}

static void close_contexts(void) {
#ifdef HAVE_shmem_ctx_destroy
    while (ncontexts > 1) shmem_ctx_destroy(contexts[--ncontexts]);
#endif
    ncontexts = 1;
}

#endif

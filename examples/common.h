/* What the programs of the tutorial share: a clock, numbers that look random, options, and how they end. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <inttypes.h>
#include <shmem.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Number `at` of the numbers of PE `pe`: any PE can tell what another one draws. (The finalizer of splitmix64.) */
static inline uint64_t draw(int pe, uint64_t at)
{
    uint64_t x = ((uint64_t)pe << 40) + at + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Says why, and ends the job: with 1 what went wrong, with 2 what was asked for wrongly. */
static inline void end_job(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "PE %d: ", shmem_my_pe());
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    shmem_global_exit(status);
}

/* The number that an option has. */
static inline long number(char option, const char *text, long most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 1 || value > most)
        end_job(2, "-%c takes a number from 1 to %ld, not '%s'", option, most, text);
    return value;
}

/* Symmetric memory of zeros, or the end. */
static inline void *symmetric(size_t count, size_t size)
{
    void *memory = shmem_calloc(count, size);
    if (memory == NULL)
        end_job(1, "no room for %zu KiB: raise SHMEM_SYMMETRIC_SIZE", count * size >> 10);
    return memory;
}

/* The longest time that any PE took. On all PEs. */
static inline double slowest(double seconds)
{
    static double mine, all;
    mine = seconds;
    shmem_max_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    return all;
}

/* The sum over all PEs. On all PEs. */
static inline uint64_t total_of(uint64_t value)
{
    static uint64_t mine, all;
    mine = value;
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    return all;
}

/* Columns of the most nearly square grid of all PEs. */
static inline int grid_columns(int npes)
{
    int columns = 1;
    for (int i = 1; i * i <= npes; i++)
        columns = npes % i == 0 ? i : columns;
    return npes / columns;
}

#endif

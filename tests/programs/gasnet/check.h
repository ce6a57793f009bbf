/* Checks that name the line, of GASNet-EX and GASNet-1 alike; `me` is this process's rank. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "rank %u: %s:%d: %s\n", (unsigned)me, __FILE__, __LINE__, #condition); \
            gasnet_exit(99); \
        } \
    } while (0)

#endif

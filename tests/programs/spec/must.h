/* A condition that a program of this folder relies on. */
#ifndef MUST_H
#define MUST_H
#include <stdio.h>
#include <stdlib.h>

#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _Exit(1); \
        } \
    } while (0)
#endif

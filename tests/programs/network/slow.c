/* A libfabric that is inside its first call when main returns, and whose destructor finds out. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int inside;

__attribute__((destructor)) static void end(void)
{
    if (inside) {
        fputs("slow: destructors run while a thread is inside\n", stderr);
        abort();
    }
    fputs("slow: nobody is inside\n", stderr);
}

/* main waits for this file. */
static void mark(void)
{
    char name[4096];
    FILE *file;
    snprintf(name, sizeof name, "%s.%d", getenv("SLOW_MARK"), (int)getpid());
    file = fopen(name, "w");
    if (file) {
        fclose(file);
    }
}

unsigned fi_version(void)
{
    return 1u << 16 | 99;
}

int fi_getinfo(unsigned version, const char *node, const char *service, unsigned long flags, const void *hints,
               void **info)
{
    (void)version, (void)node, (void)service, (void)flags, (void)hints, (void)info;
    inside = 1;
    mark();
    usleep(300000);
    inside = 0;
    return -61; /* no provider */
}

/* Of no information: fi_info, whose later words point to what it consists of. */
void *fi_dupinfo(const void *info)
{
    void **copy = calloc(1, 4096);
    int at;
    (void)info;
    for (at = 9; at < 14; at++) {
        copy[at] = calloc(1, 4096);
    }
    return copy;
}

void fi_freeinfo(void *info)
{
    (void)info;
}

int fi_fabric(void *attributes, void **fabric, void *context)
{
    (void)attributes, (void)fabric, (void)context;
    return -38;
}

const char *fi_strerror(int number)
{
    (void)number;
    return "none";
}

/* Which memory a core file has: symmetric objects of this PE, not what the heap has besides or what other PEs have. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static long variable = 7, zeroes[1000];

/* Whether the system would write the page at an address to a core file. */
static int is_dumped(const void *address) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[4096];
    int inside = 0, dumped = -1;
    while (dumped < 0 && fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from <= (unsigned long)address && (unsigned long)address < to;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            dumped = strstr(line, " dd") == NULL;
    }
    fclose(maps);
    return dumped;
}

static void check(int me, const char *what, const void *address, int expected) {
    if (is_dumped(address) != expected) {
        fprintf(stderr, "PE %d: %s: is dumped: %d\n", me, what, is_dumped(address));
        _Exit(1);
    }
}

int main(void) {
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    char *few = shmem_malloc(100);
    check(me, "an object", few, 1);
    check(me, "memory that nobody has", few + 40 * MIB, 0);
    char *many = shmem_malloc(32 * MIB);
    check(me, "the begin of a large object", many, 1);
    check(me, "its end", many + 32 * MIB - 1, 1);
    check(me, "memory that nobody has", few + 60 * MIB, 0);
    many = shmem_realloc(many, 50 * MIB);
    check(me, "the end of one that has grown", many + 50 * MIB - 1, 1);
    check(me, "a variable", &variable, 1);
    check(me, "an array", &zeroes[999], 1);
    check(me, "another PE's object", shmem_ptr(few, next), 0);
    check(me, "another PE's variable", shmem_ptr(&variable, next), 0);
    shmem_barrier_all();
    printf("its own\n");
    shmem_finalize();
    return 0;
}

/* Goes wrong, or stands still, at places that are known: where WAY. Lines are looked for by their marks. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ready;
static long counts[1 << 14];

static void *volatile nowhere = (void *)8;

static void aside(size_t bytes)
{
    memset(nowhere, 1, bytes); /* aside */
}

static int compares(const void *one, const void *other)
{
    return one == other || *(volatile int *)nowhere; /* compares */
}

static void inner(volatile int *at)
{
    *at = 1; /* crash */
}

static void outer(int me)
{
    if (me == 1)
        inner(NULL); /* calls inner */
}

static void spin(void)
{
    for (volatile long turns = 0;; turns++) {
    }
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "";
    shmem_init();
    int me = shmem_my_pe();
    if (strcmp(way, "crash") == 0) {
        outer(me);
    } else if (strcmp(way, "abort") == 0) {
        if (me == 1)
            abort(); /* abort */
    } else if (strcmp(way, "copy") == 0) {
        if (me == 1)
            shmem_putmem(counts, (void *)64, count > 2 ? (size_t)atol(words[2]) : 1024, 0); /* copy */
    } else if (strcmp(way, "fetch") == 0) {
        if (me == 1)
            shmem_getmem((void *)64, counts, count > 2 ? (size_t)atol(words[2]) : 1024, 0); /* fetch */
    } else if (strcmp(way, "aside") == 0) {
        shmem_long_p(counts, 1, 0);
        if (me == 1)
            aside(100); /* calls aside */
    } else if (strcmp(way, "sort") == 0) {
        shmem_long_p(counts, 1, 0);
        if (me == 1)
            qsort(counts, 128, sizeof *counts, compares);
    } else if (strcmp(way, "argument") == 0) {
        shmem_barrier_all();
        shmem_long_p(counts, 1, 99); /* argument */
    } else if (strcmp(way, "wait") == 0) {
        if (me == 1)
            shmem_int_wait_until(&ready, SHMEM_CMP_EQ, 7); /* wait */
        if (me == 2)
            shmem_long_wait_until_all(counts, 8, NULL, SHMEM_CMP_GT, 0); /* wait for all */
        if (me == 3)
            spin();
    } else if (strcmp(way, "return") == 0) {
        if (me == 1)
            return 0;
    } else if (strcmp(way, "finalize") == 0) {
        if (me == 1) {
            shmem_finalize();
            return 0;
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

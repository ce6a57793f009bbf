/* Static objects of every kind, and the heap, are symmetric: put, get, atomics, shmem_ptr and their initial values. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "PE %d: line %d: %s\n", me, __LINE__, #condition); \
            _Exit(1); \
        } \
    } while (0)

int me = -1;
long exported[3] = {1, 2, 3};
static long initialized[600] = {5, 6};
static long zeroed[3000];
static char odd[4097];
static struct { char tag; double value; long tail[2]; } mixed = {'m', 2.5, {7, 8}};
static const char *pointer = "relocated";
long *address = &initialized[1];

static long *in_function(void) {
    static long inner = 44;
    return &inner;
}

int main(int count, char **arguments) {
    initialized[599] = 77;
    setenv("SYMMETRY", "kept", 1);
    shmem_init();
    me = shmem_my_pe();
    int npes = shmem_n_pes(), next = (me + 1) % npes, before = (me + npes - 1) % npes;
    /* What was there before init is there after it. */
    CHECK(count >= 1 && arguments[0] != NULL && strcmp(getenv("SYMMETRY"), "kept") == 0);
    CHECK(initialized[0] == 5 && initialized[599] == 77 && exported[2] == 3
        && mixed.tail[1] == 8 && *in_function() == 44);
    CHECK(strcmp(pointer, "relocated") == 0 && address == &initialized[1] && *address == 6);
    shmem_barrier_all();
    long *heap = shmem_malloc(64);
    CHECK(heap != NULL);
    long *objects[] = {exported + 1, initialized + 300, zeroed + 2999,
        &mixed.tail[0], in_function(), heap, (long *)(void *)(odd + 8)};
    for (int o = 0; o < 7; o++) {
        long *object = objects[o];
        *object = -1;
        shmem_barrier_all();
        shmem_long_p(object, me * 100 + o, next);
        shmem_quiet();
        shmem_barrier_all();
        CHECK(*object == before * 100 + o);
        CHECK(shmem_long_g(object, next) == me * 100 + o);
        CHECK(shmem_addr_accessible(object, next) == 1);
        long *theirs = shmem_ptr(object, next);
        CHECK(theirs != NULL && *theirs == me * 100 + o);
        shmem_barrier_all();
        *object = 0;
        shmem_barrier_all();
        for (int k = 0; k < 100; k++) shmem_long_atomic_add(object, 1, 0);
        shmem_barrier_all();
        if (me == 0) CHECK(*object == 100l * npes);
        shmem_barrier_all();
    }
    memset(odd, me + 1, sizeof odd);
    shmem_barrier_all();
    char copy[4097];
    shmem_getmem(copy, odd, sizeof odd, next);
    for (size_t k = 0; k < sizeof copy; k++) CHECK(copy[k] == next + 1);
    shmem_barrier_all();
    shmem_free(heap);
    shmem_finalize();
    CHECK(exported[0] == 1 && odd[4096] == me + 1);
    printf("symmetric\n");
    return 0;
}

/* Where the memory of spaces is: what is refused leaves no trace, what was ended is there for others, all zero.
 * pes: 1 2 5 12
 */
#include "check.h"

#include <shmemx.h>
#include <sys/resource.h>

#define WORDS (1 << 17)

static int create(size_t bytes, shmemx_space_t *space) {
    shmemx_space_config_t config = {.size = bytes};
    return shmemx_space_create(SHMEM_TEAM_WORLD, &config, SHMEMX_SPACE_SIZE, space);
}

static void fill(long *words, long value) {
    for (int k = 0; k < WORDS; k++) words[k] = value;
}

int main(void) {
    shmemx_space_t live, other, refused;
    begin();
    shmemx_errhandler_set(SHMEM_TEAM_WORLD, SHMEMX_ERRORS_RETURN, NULL);
    CHECK_EQ(create(2 << 20, &live), 0);
    long *kept = shmemx_space_calloc(live, WORDS, sizeof *kept);
    fill(kept, 111 + me);
    /* Together they are more than a file can have, each of them alone is more than that of 8 PEs. */
    for (int k = 0; k < 70; k++) {
        size_t bytes = ((size_t)1 << 60) - (k % 2 ? (size_t)(k + 1) << 20 : 0);
        CHECK_EQ(create(bytes, &refused), SHMEMX_ERROR_MEMORY);
        CHECK_EQ((long)refused, (long)SHMEMX_SPACE_INVALID);
    }
    CHECK_EQ(create(2 << 20, &other), 0);
    long *words = shmemx_space_malloc(other, WORDS * sizeof *words);
    fill(words, 222);
    shmem_barrier_all();
    for (int k = 0; k < WORDS; k++) CHECK_EQ(kept[k], 111 + me);
    CHECK_EQ(shmemx_space_destroy(other), 0);
    /* No file may become larger than for two of these and the heap. */
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = (rlim_t)npes * ((rlim_t)3 << 30) + ((rlim_t)1 << 30);
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (int round = 0; round < 10; round++) {
        CHECK_EQ(create((size_t)1 << 30, &other), 0);
        words = shmemx_space_malloc(other, WORDS * sizeof *words);
        for (int k = 0; k < WORDS; k += 97) CHECK_EQ(words[k], 0);
        fill(words, 333);
        shmem_barrier_all();
        shmem_long_p(words, 444, (me + 1) % npes);
        shmem_barrier_all();
        CHECK_EQ(words[0], 444);
        CHECK_EQ(shmemx_space_destroy(other), 0);
    }
    for (int k = 0; k < WORDS; k++) CHECK_EQ(kept[k], 111 + me);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

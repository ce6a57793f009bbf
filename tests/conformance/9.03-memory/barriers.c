/* 9.3: allocation has its barrier on exit and free on entry, both complete the default context: nobody leaves malloc
 * before all have come, and what was put before a free is there after it.
 * pes: 2 3 4
 * needs: shmem_malloc shmem_free shmem_realloc shmem_calloc shmem_align
 */
#include "check.h"

static long came, word;

static void *call(int kind, void *block) {
    switch (kind) {
    case 0: return shmem_malloc(100);
    case 1: shmem_free(block); return NULL;
    case 2: return shmem_calloc(10, 10);
    case 3: return shmem_realloc(block, 5000);
    case 4: shmem_free(block); return shmem_align(64, 10);
    default: shmem_free(block); return NULL;
    }
}

int main(void) {
    begin();
    void *block = NULL;
    for (int kind = 0; kind < 6; kind++) {
        came = 0;
        word = -1;
        shmem_barrier_all();
        if (me == npes - 1) usleep(30000);
        for (int pe = 0; pe < npes; pe++) shmem_long_atomic_inc(&came, pe);
        shmem_long_p(&word, me, (me + 1) % npes);
        block = call(kind, block);
        CHECKF(came == npes, "kind %d: %ld of %d came", kind, came, npes);
        CHECK_EQ(word, (me + npes - 1) % npes);
        shmem_barrier_all();
    }
    return end();
}

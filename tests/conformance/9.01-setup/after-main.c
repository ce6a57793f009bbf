/* 9.1.4 as tools use it: calls from atexit handlers and destructors, and a second finalize, are harmless.
 * pes: 1 2 4
 * needs: shmem_query_initialized shmem_finalize shmem_barrier_all
 */
#include "check.h"

static int finalized_by_handler;
static long word;

static void early(void) {
    int answer = -1;
    shmem_query_initialized(&answer);
    CHECK_EQ(answer, 0);
    shmem_finalize();
}

static void late(void) {
    int answer = -1;
    shmem_query_initialized(&answer);
    CHECK(answer != 0);
    shmem_long_p(&word, 3, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(word, 3);
    shmem_finalize();
    finalized_by_handler = 1;
}

__attribute__((destructor)) static void last(void) {
    if (!finalized_by_handler) _exit(9);
    int level;
    shmem_query_thread(&level);
    /* A tool that writes its file now asks who it is. */
    if (shmem_my_pe() != me || shmem_n_pes() != npes) _exit(8);
    shmem_finalize();
}

int main(void) {
    begin();
    atexit(early);
    atexit(late);
    return 0;
}

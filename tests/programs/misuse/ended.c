/* Calls after the last finalize: the first argument says which. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static long word, other;

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long *heap = shmem_malloc(64);
    shmem_init();
    shmem_finalize();
    shmem_long_p(&word, 1, (me + 1) % npes);
    shmem_finalize();
    int up = 1;
    shmem_query_initialized(&up);
    if (up || shmem_my_pe() != me || shmem_n_pes() != npes) return 3;
    if (strcmp(what, "again") == 0) {
        shmem_init();
        shmem_barrier_all();
        shmem_finalize();
    }
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("barrier") shmem_barrier_all();
    CASE("again") shmem_sync_all();
    CASE("put") shmem_long_put(&word, &other, 1, me);
    CASE("g") return (int)shmem_long_g(&word, me);
    CASE("add") shmem_long_atomic_add(&word, 1, me);
    CASE("malloc") heap = shmem_malloc(8);
    CASE("free") shmem_free(heap);
    CASE("quiet") shmem_quiet();
    CASE("ptr") return shmem_ptr(&word, me) != NULL;
    CASE("test") return shmem_long_test(&word, SHMEM_CMP_EQ, 1);
    CASE("team") return shmem_team_my_pe(SHMEM_TEAM_WORLD);
    CASE("lock") shmem_set_lock(&word);
    printf("went on\n");
    return 0;
}

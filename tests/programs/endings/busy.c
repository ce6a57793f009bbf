/* All PEs transfer without end; after a moment PE 0 ends, as the first argument says. */
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 65536 };

static void ends(const char *how) {
    sleep(1);
    if (strcmp(how, "global-exit") == 0) shmem_global_exit(18);
    if (strcmp(how, "exit") == 0) exit(18);
    raise(atoi(how));
}

int main(int count, char **arguments) {
    shmem_init();
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    char *own = malloc(BYTES), *theirs = shmem_malloc(BYTES);
    memset(own, me, BYTES);
    shmem_barrier_all();
    if (me == 0) ends(count > 1 ? arguments[1] : "");
    for (;;) {
        shmem_putmem(theirs, own, BYTES, next);
        shmem_quiet();
        shmem_getmem_nbi(own, theirs, BYTES, next);
        shmem_quiet();
    }
}

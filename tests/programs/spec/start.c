/* 9.1: who am I, how many are we, a value to the next PE and back, a pointer to another PE's memory, the end. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include "must.h"

int main(void) {
    static int box;
    static int row[4];
    int major, minor, level = -1, up = -1;
    char name[SHMEM_MAX_NAME_LEN];

    shmem_query_initialized(&up);
    MUST(up == 0);
    MUST(shmem_init_thread(SHMEM_THREAD_FUNNELED, &level) == 0 && level >= SHMEM_THREAD_FUNNELED);
    shmem_query_initialized(&up);
    MUST(up != 0);
    /* A library that initializes on its own takes nothing away from the program. */
    shmem_init();
    int now;
    shmem_query_thread(&now);
    MUST(now == level);
    shmem_finalize();

    int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n;
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    MUST(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION && strcmp(name, SHMEM_VENDOR_STRING) == 0);

    int greeting = 100 + me;
    shmem_put(&box, &greeting, 1, right);
    shmem_barrier_all();
    MUST(box == 100 + (me + n - 1) % n);
    MUST(shmem_g(&box, right) == 100 + me);
    MUST(shmem_pe_accessible(right) == 1 && shmem_pe_accessible(n) == 0 && shmem_addr_accessible(&box, right) == 1);
    MUST(shmem_addr_accessible(&me, right) == 0);

    int *theirs = shmem_ptr(row, right);
    MUST(shmem_ptr(row, me) == (void *)row && shmem_team_ptr(SHMEM_TEAM_WORLD, row, right) == (void *)theirs);
    /* Tests over the network say so: then nobody's memory is here. */
    MUST((theirs != NULL) == (n == 1 || getenv("TEST_HOST_PES") == NULL));
    for (int i = 0; i < 4; i++) {
        if (theirs != NULL) theirs[i] = right * 4 + i;
        else shmem_int_p(&row[i], right * 4 + i, right);
    }
    shmem_barrier_all();
    for (int i = 0; i < 4; i++) MUST(row[i] == me * 4 + i);

    shmem_finalize();
    shmem_query_initialized(&up);
    MUST(up == 0);
    return 0;
}

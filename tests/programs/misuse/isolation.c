/* PEs 0 and 1 have a space. PE 0 reaches for that of PE 2 ("to"), or PE 2 for that of PE 1 ("by"), in the way that the
 * second argument says. */
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

static long *inside, local[8], from[8];

int main(int count, char **arguments) {
    const char *who = count > 1 ? arguments[1] : "", *what = count > 2 ? arguments[2] : "";
    shmem_init();
    int me = shmem_my_pe();
    shmem_team_t pair = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &pair);
    shmemx_space_config_t config = {.size = 1 << 16, .name = "halo"};
    shmemx_space_t space = SHMEMX_SPACE_INVALID;
    if (pair != SHMEM_TEAM_INVALID) {
        shmemx_space_create(pair, &config, SHMEMX_SPACE_SIZE | SHMEMX_SPACE_NAME, &space);
        inside = shmemx_space_calloc(space, 8, sizeof *inside);
    }
    shmem_barrier_all();
    /* Members have it at one address, which another PE may hear of. */
    inside = shmem_ptr(&inside, 0) ? *(long **)shmem_ptr(&inside, 0)
                                   : (long *)shmem_longlong_g((long long *)&inside, 0);
    shmem_barrier_all();
    int to = strcmp(who, "to") == 0, pe = to ? 2 : 1;
    if (me == (to ? 0 : 2)) {
        shmemx_request_handle_t request;
        uint64_t *signal = (uint64_t *)(void *)inside;
        shmemx_space_t found;
#define CASE(name) if (strcmp(what, name) == 0)
        CASE("put") shmem_long_put(inside, from, 4, pe);
        CASE("p") shmem_long_p(inside, 4, pe);
        CASE("get") shmem_long_get(local, inside, 4, pe);
        CASE("g") local[0] = shmem_long_g(inside, pe);
        CASE("put-nbi") shmem_putmem_nbi(inside, from, 4, pe);
        CASE("iput") shmem_long_iput(inside, from, 2, 1, 2, pe);
        CASE("add") shmem_long_atomic_add(inside, 1, pe);
        CASE("fetch") local[0] = shmem_long_atomic_fetch(inside, pe);
        CASE("signal") shmem_long_put_signal(inside, from, 1, signal, 1, SHMEM_SIGNAL_SET, pe);
        CASE("fadd") shmemx_long_fadd_nb(inside, 1, pe, local, &request);
        CASE("wait") shmem_long_wait_until(inside, SHMEM_CMP_EQ, 0);
        CASE("ask") {
            int reached = shmem_ptr(inside, pe) || shmem_addr_accessible(inside, pe);
            printf("%s\n", reached || shmemx_space_of(inside, &found) == 0 ? "some" : "none");
        }
    }
    if (strcmp(what, "sum") == 0) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, inside, from, 4);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* One mistake with sets or requests a run, chosen by the first argument; all PEs make it. */
#include <fcntl.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

static long object[64], pSync[SHMEM_SYNC_SIZE];

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("early-set") { return shmemx_create_strided_aset(0, 1, 1) == NULL; }
    CASE("early-wait") { shmemx_wait_req(1); return 0; }
    shmem_init();
    int npes = shmem_n_pes();
    long local[4] = {0};
    shmemx_aset *set = shmemx_create_strided_aset(0, 1, npes), *gone = shmemx_create_strided_aset(0, 1, 1);
    shmemx_delete_aset(gone);
    shmemx_request_handle_t request;
    CASE("set-null") shmemx_barrier_aset(NULL, pSync);
    CASE("set-deleted") shmemx_sync_aset(gone, NULL);
    CASE("set-wild") shmemx_in_aset((shmemx_aset *)(void *)local);
    CASE("set-deleted-twice") shmemx_delete_aset(gone);
    CASE("set-psync") shmemx_barrier_aset(set, local);
    CASE("set-root") shmemx_broadcast64_aset(object, object + 32, 1, npes, set, pSync);
    CASE("set-root-nb") shmemx_broadcast64_nb(object, object + 32, 1, npes, set, pSync, &request);
    CASE("set-count") shmemx_long_sum_to_all_nb(object, object + 32, -1, set, NULL, pSync, &request);
    CASE("list-null") shmemx_create_generic_aset(NULL, 1);
    CASE("function-null") shmemx_create_custom_aset(0, NULL, 1, NULL);
    CASE("handle-wild") shmemx_wait_req(((shmemx_request_handle_t)9 << 32) | 70);
    CASE("handle-wild-test") shmemx_test_req(3);
    CASE("handle-null") shmemx_req_wait(NULL);
    CASE("target-private") shmemx_long_sum_reduce_nb(SHMEM_TEAM_WORLD, local, object, 1, &request);
    CASE("pe") shmemx_long_fadd_nb(object, 1, npes, local, &request);
    shmemx_file_t file = SHMEMX_FILE_INVALID, closed = SHMEMX_FILE_INVALID;
    shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/null", O_RDWR, 0, &closed);
    shmemx_file_close(closed);
    shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/null", O_RDWR, 0, &file);
    CASE("file-null") shmemx_file_sync(SHMEMX_FILE_INVALID);
    CASE("file-closed") shmemx_file_read_at_all(closed, object, 8, 0);
    CASE("file-closed-twice") shmemx_file_close(closed);
    CASE("file-wild") shmemx_file_write_at((shmemx_file_t)(void *)local, object, 8, 0);
    CASE("file-private") shmemx_file_write_at_all(file, local, 8, 0);
    CASE("file-beyond") shmemx_file_read_ordered(file, object, (size_t)1 << 60);
    CASE("file-offset") shmemx_file_write_at_nb(file, object, 8, -8, &request);
    CASE("file-append") shmemx_file_open(SHMEM_TEAM_WORLD, "/dev/null", O_WRONLY | O_APPEND, 0, &file);
    CASE("file-path") shmemx_file_open(SHMEM_TEAM_WORLD, NULL, O_RDWR, 0, &file);
    CASE("handler-team") shmemx_errhandler_set((shmem_team_t)(void *)local, SHMEMX_ERRORS_LOG, NULL);
    CASE("state-pe") shmemx_pe_state(npes);
    CASE("failed-null") shmemx_failed_pes(NULL, 3);
    CASE("old-null") shmemx_long_fadd_nb(object, 1, 0, NULL, &request);
    shmemx_space_config_t config = {.size = 4096, .page_size = 3, .kind = 7, .name = "small"};
    shmemx_space_t space = SHMEMX_SPACE_INVALID, ended = SHMEMX_SPACE_INVALID;
    shmemx_space_create(SHMEM_TEAM_WORLD, &config, SHMEMX_SPACE_SIZE, &ended);
    shmemx_space_destroy(ended);
    shmemx_space_create(SHMEM_TEAM_WORLD, &config, SHMEMX_SPACE_SIZE | SHMEMX_SPACE_NAME, &space);
    char *inside = shmemx_space_malloc(space, 64);
    int me = shmem_my_pe();
    CASE("space-null") shmemx_space_malloc(SHMEMX_SPACE_INVALID, 8);
    CASE("space-ended") shmemx_space_calloc(ended, 1, 8);
    CASE("space-ended-twice") shmemx_space_destroy(ended);
    CASE("space-wild") shmemx_space_free((shmemx_space_t)(void *)local, inside);
    CASE("space-heap") shmemx_space_destroy(SHMEMX_SPACE_DEFAULT);
    CASE("space-mask") shmemx_space_create(SHMEM_TEAM_WORLD, &config, 64, &space);
    CASE("space-config") shmemx_space_create(SHMEM_TEAM_WORLD, NULL, SHMEMX_SPACE_SIZE, &space);
    CASE("space-page") shmemx_space_create(SHMEM_TEAM_WORLD, &config, SHMEMX_SPACE_PAGE_SIZE, &space);
    CASE("space-kind") shmemx_space_create(SHMEM_TEAM_WORLD, &config, SHMEMX_SPACE_KIND, &space);
    CASE("space-place") shmemx_space_create(SHMEM_TEAM_WORLD, NULL, 0, NULL);
    CASE("space-foreign") shmemx_space_free(space, object);
    CASE("space-twice") { shmemx_space_free(space, inside); shmemx_space_free(space, inside); }
    CASE("space-free") shmem_free(inside);
    CASE("space-align") shmemx_space_align(space, 24, 8);
    CASE("space-beyond") shmem_putmem(inside, inside, 5000, me);
    CASE("space-beyond-sum") shmem_long_sum_reduce(SHMEM_TEAM_WORLD, (long *)(void *)inside, object, 600);
    CASE("space-of") shmemx_space_of(inside, NULL);
    CASE("locality") shmemx_locality(npes);
    CASE("numa") shmem_team_destroy(SHMEMX_TEAM_NUMA);
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* A file system that becomes full, which is the first argument and small: what has room is there, who finds none is
 * told, with handles too; after room was made, all goes on; a file that was full is read to its end; read-only
 * afterwards. */
#include <errno.h>
#include <fcntl.h>
#include <shmemx.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "check.h"

enum { BLOCK = 64 << 10, MOST = 512 };

static unsigned char out[BLOCK], in[BLOCK];
static char path[256];
static int worst[64], mine;

static void told(const char *why) {
    shmemx_error_t error = {.size = sizeof error};
    CHECK_EQ(shmemx_error_last(&error), SHMEMX_ERROR_IO);
    CHECKF(strstr(error.message, why) != NULL, "%s: no %s", error.message, why);
    shmemx_error_clear();
}

static void fill(long block) { for (int k = 0; k < BLOCK; k++) out[k] = (unsigned char)(block * 7 + k % 251); }

static void expect(long block, long bytes) {
    for (long k = 0; k < bytes; k++)
        CHECKF(in[k] == (unsigned char)(block * 7 + k % 251), "block %ld, byte %ld", block, k);
}

/* Blocks, one a PE a round, until there is no room; gives the first round that failed. */
static long until_full(shmemx_file_t file, bool handles) {
    for (long round = 0; round < MOST; round++) {
        long block = round * npes + me;
        fill(block);
        int result;
        if (handles) {
            shmemx_req_h request;
            CHECK_EQ(shmemx_file_write_at_all_nb(file, out, BLOCK, block * BLOCK, &request), 0);
            result = shmemx_req_wait(&request);
        } else {
            result = shmemx_file_write_at_all(file, out, BLOCK, block * BLOCK);
        }
        CHECKF(result == 0 || result == SHMEMX_ERROR_IO, "%d", result);
        if (result != 0) told("No space left on device");
        /* All members hear of it, whoever it happened to. */
        mine = result;
        shmem_int_min_reduce(SHMEM_TEAM_WORLD, worst, &mine, 1);
        CHECK_EQ(result, worst[0]);
        if (result != 0) return round;
    }
    CHECKF(false, "%d blocks a PE found room", MOST);
    return 0;
}

static void read_back(shmemx_file_t file, long rounds) {
    for (long round = 0; round < rounds; round++) {
        long block = round * npes + me;
        CHECK_EQ(shmemx_file_read_at_all(file, in, BLOCK, block * BLOCK), 0);
        expect(block, BLOCK);
    }
}

int main(int argc, char **argv) {
    begin();
    snprintf(path, sizeof path, "%s/file", argv[argc - 1]);
    shmemx_file_t file;
    for (int handles = 0; handles < 2; handles++) {
        CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR | O_CREAT | O_TRUNC, 0600, &file), 0);
        long rounds = until_full(file, handles != 0);
        CHECKF(rounds > 0, "no room for the first round");
        read_back(file, rounds);
        /* One by one it is full as well; what had room of the round that failed is there, and then comes the end. */
        off_t size = 0;
        CHECK_EQ(shmemx_file_size(file, &size), 0);
        CHECK(size >= rounds * npes * BLOCK && size <= (rounds + 1) * npes * BLOCK);
        shmem_barrier_all();
        CHECK_EQ(shmemx_file_write_at(file, out, BLOCK, (long)(MOST + me) * npes * BLOCK), SHMEMX_ERROR_IO);
        told("No space left on device");
        /* Room again. */
        shmem_barrier_all();
        CHECK_EQ(shmemx_file_truncate(file, BLOCK), 0);
        fill(me);
        CHECK_EQ(shmemx_file_write_at_all(file, out, BLOCK, (long)me * BLOCK), 0);
        read_back(file, 1);
        CHECK_EQ(shmemx_file_close(file), 0);
    }
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(mount("none", argv[argc - 1], NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    shmem_barrier_all();
    CHECK(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDWR, 0, &file) == SHMEMX_ERROR_IO);
    told("Read-only file system");
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDONLY, 0, &file), 0);
    read_back(file, 1);
    CHECK_EQ(shmemx_file_close(file), 0);
    return end();
}

/* Files against what must be in them: each way of writing read back in each way, by all and by one, blocking and with
 * handles; strides forwards, backwards and interleaved; holes, sizes, ends of files, sizes of 0, many calls
 * outstanding.
 * pes: 1 2 4 8 13
 * limit: 200
 */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <shmemx.h>
#include <sys/stat.h>

enum { BLOCK = 3000, MOST = 40 };

static unsigned char out[BLOCK * MOST], in[BLOCK * MOST], other[BLOCK * MOST];
static char path[256];

static unsigned char give(long at) { return (unsigned char)(at * 131 + at / 251 + 7); }

/* What belongs at a place of the file. */
static void fill(unsigned char *to, long at, long bytes) { for (long k = 0; k < bytes; k++) to[k] = give(at + k); }

static void expect(const unsigned char *found, long at, long bytes, const char *where) {
    for (long k = 0; k < bytes; k++)
        CHECKF(found[k] == give(at + k), "%s: byte %ld of the file: %d, not %d", where, at + k, found[k], give(at + k));
}

/* What the system says is there. */
static void on_disk(long at, long bytes) {
    static unsigned char disk[BLOCK * MOST];
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && bytes <= (long)sizeof disk);
    CHECK_EQ(pread(fd, disk, (size_t)bytes, at), bytes);
    expect(disk, at, bytes, "on disk");
    close(fd);
}

static shmemx_file_t fresh(shmem_team_t team) {
    shmemx_file_t file;
    CHECK_EQ(shmemx_file_open(team, path, O_RDWR | O_CREAT | O_TRUNC, 0600, &file), 0);
    CHECK(file != SHMEMX_FILE_INVALID);
    return file;
}

static off_t size_of(shmemx_file_t file) {
    off_t size = -1;
    CHECK_EQ(shmemx_file_size(file, &size), 0);
    return size;
}

static void one_by_one(void) {
    shmemx_file_t file = fresh(SHMEM_TEAM_WORLD);
    CHECK_EQ(size_of(file), 0);
    long at = (long)me * BLOCK;
    fill(out, at, BLOCK);
    CHECK_EQ(shmemx_file_write_at(file, out, BLOCK, at), BLOCK);
    CHECK_EQ(shmemx_file_sync(file), 0);
    CHECK_EQ(size_of(file), (long)npes * BLOCK);
    long theirs = (long)((me + 1) % npes) * BLOCK;
    CHECK_EQ(shmemx_file_read_at(file, in, BLOCK, theirs), BLOCK);
    expect(in, theirs, BLOCK, "read_at");
    /* The end of the file, and beyond. */
    long whole = (long)npes * BLOCK;
    CHECK_EQ(shmemx_file_read_at(file, in, BLOCK, whole - 10), 10);
    expect(in, whole - 10, 10, "at the end");
    CHECK_EQ(shmemx_file_read_at(file, in, BLOCK, whole), 0);
    CHECK_EQ(shmemx_file_read_at(file, in, 0, 0), 0);
    CHECK_EQ(shmemx_file_write_at(file, NULL, 0, whole * 2), 0);
    shmemx_req_h requests[2];
    memset(in, 0, BLOCK);
    CHECK_EQ(shmemx_file_read_at_nb(file, in, BLOCK, theirs, &requests[0]), 0);
    CHECK_EQ(shmemx_file_read_at_nb(file, other, BLOCK, whole - 10, &requests[1]), 0);
    CHECK_EQ(shmemx_req_wait(&requests[0]), 0);
    expect(in, theirs, BLOCK, "read_at_nb");
    shmemx_error_clear();
    CHECK_EQ(shmemx_req_wait(&requests[1]), SHMEMX_ERROR_SHORT);
    CHECK_EQ(shmemx_error_last(NULL), SHMEMX_ERROR_SHORT);
    expect(other, whole - 10, 10, "at the end, with a handle");
    shmem_barrier_all();
    CHECK_EQ(shmemx_file_close(file), 0);
}

static void all_at_once(shmem_team_t team) {
    int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    if (mine < 0) return;
    shmemx_file_t file = fresh(team);
    /* Sizes differ, and some members have nothing. */
    long at = 0, bytes = 0;
    for (int pe = 0; pe <= mine; pe++) at += bytes, bytes = pe % 3 == 2 ? 0 : BLOCK - 13 * pe;
    fill(out, at, bytes);
    CHECK_EQ(shmemx_file_write_at_all(file, out, (size_t)bytes, at), 0);
    long whole = 0;
    for (int pe = 0; pe < size; pe++) whole += pe % 3 == 2 ? 0 : BLOCK - 13 * pe;
    CHECK_EQ(size_of(file), whole);
    on_disk(0, whole);
    memset(in, 0, sizeof in);
    CHECK_EQ(shmemx_file_read_at_all(file, in, (size_t)whole, 0), 0);
    expect(in, 0, whole, "read_at_all");
    /* One member's read comes to the end: only it is told. */
    int result = shmemx_file_read_at_all(file, in, 100, mine == size - 1 ? whole - 40 : 0);
    CHECK_EQ(result, mine == size - 1 ? SHMEMX_ERROR_SHORT : 0);
    if (mine == size - 1) expect(in, whole - 40, 40, "short");
    /* The same with handles, two at a time. */
    CHECK_EQ(shmemx_file_truncate(file, 0), 0);
    CHECK_EQ(size_of(file), 0);
    shmemx_req_h first, second;
    fill(out, (long)mine * BLOCK, BLOCK);
    fill(out + BLOCK, (long)(size + mine) * BLOCK, BLOCK);
    CHECK_EQ(shmemx_file_write_at_all_nb(file, out, BLOCK, (long)mine * BLOCK, &first), 0);
    CHECK_EQ(shmemx_file_write_at_all_nb(file, out + BLOCK, BLOCK, (long)(size + mine) * BLOCK, &second), 0);
    if (mine % 2) {
        CHECK_EQ(shmemx_req_wait(&second), 0);
        CHECK_EQ(shmemx_req_wait(&first), 0);
    } else {
        int state;
        while ((state = shmemx_req_test(&first)) == 1) { }
        CHECK_EQ(state, 0);
        shmemx_wait_req(second);
    }
    shmem_team_sync(team);
    on_disk(0, 2L * size * BLOCK);
    long back = (long)(2 * size - 1 - mine) * BLOCK;
    memset(in, 0, BLOCK);
    CHECK_EQ(shmemx_file_read_at_all_nb(file, in, BLOCK, back, &first), 0);
    while (!shmemx_test_req(first)) { }
    expect(in, back, BLOCK, "read_at_all_nb");
    /* Without a handle: complete with the next barrier or quiet. */
    memset(in, 0, BLOCK);
    CHECK_EQ(shmemx_file_read_at_all_nb(file, in, BLOCK, back, NULL), 0);
    shmem_quiet();
    expect(in, back, BLOCK, "without a handle");
    CHECK_EQ(shmemx_file_close(file), 0);
}

static void in_order(void) {
    shmemx_file_t file = fresh(SHMEM_TEAM_WORLD);
    long before = 0;
    for (int round = 0; round < 3; round++) {
        long at = before, bytes = 0;
        for (int pe = 0; pe <= me; pe++) at += bytes, bytes = (pe + round) % 4 == 3 ? 0 : 100 * (pe + 1) + round;
        fill(out, at, bytes);
        CHECK_EQ(shmemx_file_write_ordered(file, out, (size_t)bytes), 0);
        for (int pe = 0; pe < npes; pe++) before += (pe + round) % 4 == 3 ? 0 : 100 * (pe + 1) + round;
        CHECK_EQ(size_of(file), before);
    }
    on_disk(0, before);
    CHECK_EQ(shmemx_file_close(file), 0);
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDONLY, 0, &file), 0);
    long each = before / npes;
    CHECK_EQ(shmemx_file_read_ordered(file, in, (size_t)each), 0);
    expect(in, each * me, each, "read_ordered");
    CHECK_EQ(shmemx_file_read_ordered(file, in, 1), before - each * npes > me ? 0 : SHMEMX_ERROR_SHORT);
    CHECK_EQ(shmemx_file_close(file), 0);
}

static void with_strides(void) {
    shmemx_file_t file = fresh(SHMEM_TEAM_WORLD);
    enum { SMALL = 96, BLOCKS = 31 };
    /* Block b of PE p is block b * npes + p of the file; in memory the blocks follow each other. */
    for (int b = 0; b < BLOCKS; b++) fill(out + b * SMALL, (long)(b * npes + me) * SMALL, SMALL);
    CHECK_EQ(shmemx_file_write_strided_all(file, out, SMALL, BLOCKS, (long)npes * SMALL, (long)me * SMALL), 0);
    CHECK_EQ(size_of(file), (long)SMALL * BLOCKS * npes);
    on_disk(0, (long)SMALL * BLOCKS * npes);
    /* Back to front. */
    memset(in, 0, sizeof in);
    long last = ((long)(BLOCKS - 1) * npes + me) * SMALL;
    CHECK_EQ(shmemx_file_read_strided_all(file, in, SMALL, BLOCKS, -(long)npes * SMALL, last), 0);
    for (int b = 0; b < BLOCKS; b++)
        expect(in + b * SMALL, ((long)(BLOCKS - 1 - b) * npes + me) * SMALL, SMALL, "back");
    /* One after the other, the same block always, and none. */
    CHECK_EQ(shmemx_file_read_strided_all(file, in, SMALL, BLOCKS, SMALL, 0), 0);
    expect(in, 0, (long)SMALL * BLOCKS, "contiguous");
    CHECK_EQ(shmemx_file_read_strided_all(file, in, SMALL, 3, 0, SMALL), 0);
    for (int b = 0; b < 3; b++) expect(in + b * SMALL, SMALL, SMALL, "the same");
    CHECK_EQ(shmemx_file_read_strided_all(file, NULL, 0, BLOCKS, SMALL, 0), 0);
    CHECK_EQ(shmemx_file_close(file), 0);
}

/* Many more blocks than one system call takes. */
static void many_blocks(void) {
    shmemx_file_t file = fresh(SHMEM_TEAM_WORLD);
    enum { BLOCKS = 5000 };
    for (int b = 0; b < BLOCKS; b++) fill(out + b * 3, ((long)b * npes + me) * 3, 3);
    CHECK_EQ(shmemx_file_write_strided_all(file, out, 3, BLOCKS, 3L * npes, 3L * me), 0);
    CHECK_EQ(size_of(file), 3L * BLOCKS * npes);
    CHECK_EQ(shmemx_file_read_at_all(file, in, 3L * BLOCKS, 3L * BLOCKS * me), 0);
    expect(in, 3L * BLOCKS * me, 3L * BLOCKS, "many blocks");
    CHECK_EQ(shmemx_file_close(file), 0);
}

/* A file larger than memory, nearly all of it a hole. */
static void holes(void) {
    shmemx_file_t file = fresh(SHMEM_TEAM_WORLD);
    long far = (1L << 40) + (long)me * BLOCK;
    fill(out, far, BLOCK);
    CHECK_EQ(shmemx_file_write_at_all(file, out, BLOCK, far), 0);
    CHECK_EQ(size_of(file), (1L << 40) + (long)npes * BLOCK);
    struct stat about;
    CHECK_EQ(stat(path, &about), 0);
    CHECK(about.st_blocks * 512L < 1L << 30);
    memset(in, 1, BLOCK);
    CHECK_EQ(shmemx_file_read_at_all(file, in, BLOCK, (1L << 39) + me), 0);
    for (int k = 0; k < BLOCK; k++) CHECK_EQ(in[k], 0);
    CHECK_EQ(shmemx_file_read_at(file, in, BLOCK, far), BLOCK);
    expect(in, far, BLOCK, "far");
    CHECK_EQ(shmemx_file_truncate(file, 5L << 40), 0);
    CHECK_EQ(size_of(file), 5L << 40);
    CHECK_EQ(shmemx_file_truncate(file, 0), 0);
    CHECK_EQ(shmemx_file_close(file), 0);
}

/* Many operations of one PE under way, with memory of the heap. */
static void outstanding(void) {
    enum { CALLS = 300 };
    shmemx_file_t file = fresh(SHMEM_TEAM_WORLD);
    unsigned char *heap = shmem_malloc(CALLS * 64);
    static shmemx_req_h requests[CALLS];
    long at = (long)me * CALLS * 64;
    fill(heap, at, CALLS * 64);
    for (int k = 0; k < CALLS; k++)
        CHECK_EQ(shmemx_file_write_at_nb(file, heap + k * 64, 64, at + k * 64, &requests[k]), 0);
    CHECK_EQ(shmemx_req_wait_all(CALLS, requests), 0);
    memset(heap, 0, CALLS * 64);
    for (int k = 0; k < CALLS; k++)
        CHECK_EQ(shmemx_file_read_at_nb(file, heap + k * 64, 64, at + k * 64, &requests[k]), 0);
    for (size_t left = CALLS; left > 0;) {
        size_t indices[CALLS], done = shmemx_req_test_some(CALLS, requests, indices);
        left -= done;
    }
    expect(heap, at, CALLS * 64, "outstanding");
    shmem_free(heap);
    /* What is begun goes on when the file is closed. */
    shmemx_req_h late;
    fill(out, at, BLOCK);
    CHECK_EQ(shmemx_file_write_at_nb(file, out, BLOCK, at, &late), 0);
    CHECK_EQ(shmemx_file_close(file), 0);
    CHECK_EQ(shmemx_req_wait(&late), 0);
    on_disk(at, BLOCK);
    shmem_barrier_all();
}

int main(void) {
    begin();
    job_path(path, sizeof path, "files");
    one_by_one();
    all_at_once(SHMEM_TEAM_WORLD);
    shmem_team_t odd = SHMEM_TEAM_INVALID, backwards = SHMEM_TEAM_INVALID;
    if (npes > 2) shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd);
    if (odd != SHMEM_TEAM_INVALID) all_at_once(odd);
    shmem_barrier_all();
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &backwards);
    all_at_once(backwards);
    in_order();
    with_strides();
    many_blocks();
    holes();
    outstanding();
    if (me == 0) CHECK_EQ(unlink(path), 0);
    return end();
}

/* One file written and read by all PEs against one dd of the same block size: whole runs in turns, the fastest of each;
 * ns of one block of one PE. The folder is $TMPDIR, or /tmp. */
#include "shmem_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <shmemx.h>
#include <sys/wait.h>

#define TURNS 9

static char path[200], other[200];

static void fail(const char *what)
{
    shmemx_error_t error = {.size = sizeof error};
    shmemx_error_last(&error);
    fprintf(stderr, "PE %d: %s of %s: %s\n", me, what, path, error.message);
    shmemx_abort_because(1, "the file system does not do it");
}

/* Where files can be made: $TMPDIR, or /tmp where that is not set. */
static const char *writable_folder(void)
{
    const char *folder = getenv("TMPDIR");
    folder = folder ? folder : "/tmp";
    if (me == 0 && access(folder, W_OK | X_OK) != 0) {
        fprintf(stderr, "no files can be made in $TMPDIR, which is %s: %s\n", folder, strerror(errno));
        shmem_global_exit(1);
    }
    shmem_barrier_all();
    return folder;
}

/* Seconds of dd, as a process of its own. */
static double dd(const char *input, const char *output, size_t block, long blocks)
{
    char from[256], to[256], size[64], count[64];
    snprintf(from, sizeof from, "if=%s", input);
    snprintf(to, sizeof to, "of=%s", output);
    snprintf(size, sizeof size, "bs=%zu", block);
    snprintf(count, sizeof count, "count=%ld", blocks);
    double start = now_ns();
    pid_t child = fork();
    if (child == 0) {
        execlp("dd", "dd", from, to, size, count, "status=none", (char *)NULL);
        _exit(127);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        fail("dd");
    return now_ns() - start;
}

/* Nanoseconds that all PEs take for so many rounds of a block each, the file's opening and closing in it. */
static double all(char *block, size_t bytes, long rounds, int writes)
{
    shmem_barrier_all();
    double start = now_ns();
    shmemx_file_t file;
    if (shmemx_file_open(SHMEM_TEAM_WORLD, path, writes ? O_RDWR | O_CREAT | O_TRUNC : O_RDONLY, 0600, &file) != 0)
        fail("open");
    for (long r = 0; r < rounds; r++) {
        off_t at = (off_t)((size_t)(r * npes + me) * bytes);
        if ((writes ? shmemx_file_write_at_all : shmemx_file_read_at_all)(file, block, bytes, at) != 0)
            fail("transfer");
    }
    shmemx_file_close(file);
    double taken = now_ns() - start;
    shmem_barrier_all();
    return taken;
}

static void measure(size_t bytes, size_t whole, int writes)
{
    long rounds = (long)(whole / bytes / (size_t)npes), blocks = rounds * npes;
    char *block = symmetric(bytes);
    double ours = 1e300, theirs = 1e300;
    for (int turn = 0; turn < TURNS; turn++) {
        double taken = all(block, bytes, rounds, writes);
        ours = taken < ours ? taken : ours;
        if (me == 0) {
            taken = writes ? dd("/dev/zero", other, bytes, blocks) : dd(path, "/dev/null", bytes, blocks);
            theirs = taken < theirs ? taken : theirs;
        }
        shmem_barrier_all();
    }
    struct timing t = {.ns = ours / (double)blocks, .limit_ns = theirs / (double)blocks};
    if (me == 0)
        report(writes ? "file-write" : "file-read", "heap", bytes, npes, t, "dd");
    shmem_free(block);
}

int main(int argc, char **argv)
{
    start(argc, argv);
    const char *folder = writable_folder();
    snprintf(path, sizeof path, "%s/pellucid-bench-%ld", folder, agree((long)getpid()));
    snprintf(other, sizeof other, "%s.dd", path);
    size_t whole = quick ? (size_t)16 << 20 : (size_t)128 << 20;
    for (size_t bytes = 64 << 10; bytes <= 1 << 20; bytes *= 4)
        for (int writes = 1; writes >= 0; writes--)
            measure(bytes, whole, writes);
    if (me == 0) {
        unlink(path);
        unlink(other);
    }
    shmem_finalize();
    return 0;
}

/* The mode of a file that an open makes is for those who open it later: the members that open it together write what
 * its owner alone may only read, or not even that. Of a file that was there the mode stays, and counts.
 * pes: 1 2 4
 */
#include "check.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <shmemx.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { BYTES = 100 };

static char path[300], data[BYTES];

/* To root, modes mean nothing otherwise; threads that are made later have it from this one. */
static void as_an_owner(void) {
    struct __user_cap_header_struct version = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    CHECK_EQ(syscall(SYS_capget, &version, sets), 0);
    sets[0].effective &= ~(1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH);
    CHECK_EQ(syscall(SYS_capset, &version, sets), 0);
}

static void mode_is(unsigned mode) {
    struct stat about;
    CHECK_EQ(stat(path, &about), 0);
    CHECKF((about.st_mode & 07777) == mode, "%o, not %o", about.st_mode & 07777, mode);
}

static void expect(int flags, unsigned mode, int result) {
    shmemx_file_t file;
    CHECK_EQ(shmemx_file_open(SHMEM_TEAM_WORLD, path, flags, (int)mode, &file), result);
    CHECK((file == SHMEMX_FILE_INVALID) == (result != 0));
    shmemx_error_clear();
    if (result != 0) return;
    if ((flags & O_ACCMODE) != O_RDONLY) {
        CHECK_EQ(shmemx_file_write_at_all(file, data, BYTES, (long)me * BYTES), 0);
        CHECK_EQ(shmemx_file_write_at(file, data, BYTES, (long)me * BYTES), BYTES);
    }
    if ((flags & O_ACCMODE) != O_WRONLY)
        CHECK_EQ(shmemx_file_read_at_all(file, data, (flags & O_ACCMODE) == O_RDWR ? BYTES : 0, (long)me * BYTES), 0);
    CHECK_EQ(shmemx_file_close(file), 0);
}

static void gone(void) {
    shmem_barrier_all();
    if (me == 0) CHECK_EQ(unlink(path), 0);
    shmem_barrier_all();
}

int main(void) {
    as_an_owner();
    umask(0022);
    begin();
    job_path(path, sizeof path, "modes");
    static const int ways[] = {O_RDWR, O_WRONLY, O_RDONLY, O_RDWR | O_EXCL, O_RDWR | O_TRUNC};
    static const unsigned modes[] = {0, 0200, 0444, 0666};
    for (int way = 0; way < 5; way++)
        for (int k = 0; k < 4; k++) {
            expect(ways[way] | O_CREAT, modes[k], 0);
            mode_is(modes[k] & ~0022U);
            gone();
        }
    /* One that is there. */
    expect(O_RDWR | O_CREAT, 0444, 0);
    expect(O_RDWR | O_CREAT, 0444, SHMEMX_ERROR_IO);
    expect(O_RDONLY | O_CREAT, 0, 0);
    mode_is(0444);
    gone();
    return end();
}

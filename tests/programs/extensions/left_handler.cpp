// A handler of errors that is left by longjmp, or by an exception, is called again at the next error.
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

#include <shmem.h>
#include <shmemx.h>

static long word;
static jmp_buf back;
static int called;

static void jumps(const shmemx_error_t *, void *) {
    called++;
    std::longjmp(back, 1);
}

static void throws(const shmemx_error_t *error, void *) {
    called++;
    throw std::runtime_error(error->message);
}

// Errors of its own are not told to it while it runs.
static void fails(const shmemx_error_t *, void *) {
    called++;
    shmem_long_p(&word, 1, -2);
}

static void wrong(int turn) {
    if (turn % 2)
        shmem_putmem(&word, &word, 8, 99);
    else
        shmem_long_p(&word, turn, 99);
}

static int deeper(int depth, int turn) {
    volatile char room[256];
    room[0] = static_cast<char>(depth);
    if (depth > 0) return deeper(depth - 1, turn) + room[0];
    wrong(turn);
    return 0;
}

int main() {
    shmem_init();
    static volatile int caught;
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, jumps, nullptr);
    for (volatile int turn = 0; turn < 6; turn++) {
        if (setjmp(back) == 0)
            deeper(turn % 3, turn);
        else
            caught++;
    }
    std::printf("jumps %d %d\n", called, caught);
    called = caught = 0;
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, throws, nullptr);
    for (int turn = 0; turn < 6; turn++) {
        try {
            deeper(turn % 3, turn);
        } catch (const std::exception &) {
            caught++;
        }
    }
    std::printf("throws %d %d\n", called, caught);
    called = 0;
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, fails, nullptr);
    for (int turn = 0; turn < 6; turn++) deeper(turn % 3, turn);
    std::printf("fails %d\n", called);
    shmem_finalize();
}

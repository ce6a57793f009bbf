/* Callbacks that are left by longjmp (in C) or an exception (in C++) instead of returning. */
#include <pthread.h>
#include <setjmp.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition) do { \
    if (!(condition)) { \
        fprintf(stderr, "left: line %d: %s\n", __LINE__, #condition); \
        shmem_global_exit(9); \
    } \
} while (0)

static long word;
static jmp_buf back;
static int leaves = -1;
static long heard;
static volatile int left, stop;

#ifdef __cplusplus
#define LEAVE throw 1
#define TRY(statement) try { statement; CHECK(0); } catch (int) {}
#else
#define LEAVE longjmp(back, 1)
#define TRY(statement) if (setjmp(back) == 0) { statement; CHECK(0); }
#endif

static void leave(const shmemx_event_t *event, void *data) {
    (void)data;
    if (event->phase == leaves) LEAVE;
}

static void hear(const shmemx_event_t *event, void *data) {
    (void)data;
    heard += event->phase == SHMEMX_ENTER;
}

static int attach(shmemx_callback_t callback) {
    int handle;
    CHECK(shmemx_callback_register(SHMEMX_CLASS_PUT, callback, NULL, &handle) == SHMEMX_SUCCESS);
    return handle;
}

static void one(void) { shmem_long_p(&word, 1, 0); }

static void deep(int depth) {
    volatile char room[256];
    room[0] = (char)depth;
    if (depth > 0) deep(depth - 1 + room[0] - (char)depth);
    else one();
}

static void *leaver(void *data) {
    (void)data;
    TRY(one());
    left = 1;
    while (!stop) usleep(1000);
    one();
    return NULL;
}

int main(int count, char **arguments) {
    (void)arguments;
    shmem_init();
    for (int phase = SHMEMX_ENTER; phase <= SHMEMX_EXIT; phase++) {
        int leaving = attach(leave), hearing = attach(hear);
        leaves = phase;
        TRY(one());
        leaves = -1;
        heard = 0;
        one();
        deep(20);
        CHECK(heard == 2);
        leaves = phase;
        TRY(deep(3));
        CHECK(shmemx_callback_unregister(leaving) == SHMEMX_SUCCESS);
        CHECK(shmemx_callback_unregister(hearing) == SHMEMX_SUCCESS);
    }
    /* Another thread that leaves and makes no call is waited for, but not for ever. */
    int leaving = attach(leave);
    leaves = SHMEMX_ENTER;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, leaver, NULL) == 0);
    while (!left) usleep(1000);
    leaves = -1;
    if (count > 1) CHECK(shmemx_callback_unregister(leaving) == SHMEMX_ERROR_BUSY);
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(shmemx_callback_unregister(leaving) == (count > 1 ? SHMEMX_ERROR_NO_SUCH : SHMEMX_SUCCESS));
    leaving = attach(leave);
    CHECK(shmemx_callback_unregister(leaving) == SHMEMX_SUCCESS);
    puts("left and went on");
    shmem_finalize();
    return 0;
}

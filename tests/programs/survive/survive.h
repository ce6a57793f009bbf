/* What programs share whose PEs are killed. */
#ifndef SURVIVE_H
#define SURVIVE_H

#include <signal.h>

#include <shmemx.h>

#include "check.h"

/* The error of the last call that had one, which is forgotten; 0: none had. */
static int last_error(void) {
    int code = shmemx_error_last(NULL);
    shmemx_error_clear();
    return code;
}

/* The call fails since a PE is lost. */
#define LOST(call)                                                                                                     \
    do {                                                                                                               \
        (void)(call);                                                                                                  \
        CHECK_EQ(last_error(), SHMEMX_ERROR_PE_LOST);                                                                  \
    } while (0)

/* The call goes well. */
#define WELL(call)                                                                                                     \
    do {                                                                                                               \
        (void)(call);                                                                                                  \
        CHECK_EQ(last_error(), 0);                                                                                     \
    } while (0)

/* Ends this process as a name of a signal says. */
static void die(const char *how) {
    if (strcmp(how, "segv") == 0) *(volatile int *)8 = 1;
    if (strcmp(how, "abort") == 0) abort();
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* A PE that ends does so when all others are out of the last meeting: inside of it they would fail. */
static void leave_before(int victim, int others) {
    static long out;
    if (me != victim) {
        shmem_long_atomic_inc(&out, victim);
        /* Whoever ends next must have sent it. */
        shmem_quiet();
        return;
    }
    while (shmem_long_atomic_fetch(&out, me) < others) usleep(1000);
    out = 0;
}

/* Waits until the job knows that a PE is lost. */
static void await_loss(int pe) {
    while (shmemx_pe_state(pe) != SHMEMX_PE_LOST) usleep(1000);
}

#endif

/*
 * Instructions of one call, counted exactly: a tracer runs the calls one machine instruction at a time. It needs no
 * hardware counters, which virtual machines often lack. Runs as a single PE, without a launcher.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "shmem_bench.h"
#include "interception.h"

#include <pshmem.h>

#define FEW_CALLS 16    /* the same every time: off, and pshmem */
#define WARM_UP 4096    /* what the profile sets up at its first samples is not part of a call */
#define MANY_CALLS 1024 /* a sample now and then: the mean needs many */

enum { VARIANTS = 3, ROWS = 16 };

/* Shared by the tracer and the traced. */
struct shared {
    volatile int counting; /* 1 while calls run */
    volatile double *volatile result; /* where the count goes; the page is at one address in both processes */
    long calls[ROWS];                 /* at level 1 */
    volatile double steps[ROWS][VARIANTS]; /* of all calls: pshmem, off, level 1 */
    volatile double empty[ROWS][VARIANTS]; /* of as many rounds of an empty loop */
};
static struct shared *shared;

/* The tracer is waiting for this stop, and steps from here to the end of the calls. */
#define COUNT_STEPS(into, calls_, body)           \
    do {                                          \
        for (int w_ = 0; w_ < WARM_UP; w_++)      \
            body;                                 \
        shared->result = &(into);                 \
        raise(SIGSTOP);                           \
        shared->counting = 1;                     \
        for (long i_ = 0; i_ < (calls_); i_++) {  \
            body;                                 \
            KEEP();                               \
        }                                         \
        shared->counting = 0;                     \
    } while (0)

#define STEPS_OF(name, bytes, level, call)                                             \
    do {                                                                               \
        /* Where every call is timed, all are alike; where a sample is, a mean is needed. */ \
        const long calls = strcmp(level, "timed") == 0 ? FEW_CALLS : many;             \
        shmem_pcontrol(0);                                                             \
        COUNT_STEPS(shared->empty[row][0], FEW_CALLS, );                               \
        COUNT_STEPS(shared->steps[row][0], FEW_CALLS, pshmem_##call);                  \
        COUNT_STEPS(shared->steps[row][1], FEW_CALLS, shmem_##call);                   \
        shmem_pcontrol(1);                                                             \
        COUNT_STEPS(shared->empty[row][2], calls, );                                   \
        COUNT_STEPS(shared->steps[row][2], calls, shmem_##call);                       \
        shared->calls[row] = calls;                                                    \
        row++;                                                                         \
    } while (0);

static int traced(long many)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    shmem_init();
    long *word = symmetric(TIMED_BYTES);
    static long near[TIMED_BYTES / sizeof(long)];
    int pe = shmem_my_pe();
    int row = 0;
    CALLS(STEPS_OF)
    shmem_free(word);
    shmem_finalize();
    return 0;
}

/* Runs the child to its end, counting. Its exit status, or -1 when it cannot be traced. */
static int trace(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return -1;
    long steps = 0;
    int stepping = 0, begun = 0, deliver = 0;
    for (;;) {
        if (ptrace(stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, (void *)(long)deliver) != 0)
            return -1;
        if (waitpid(child, &status, 0) != child)
            return -1;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        if (WIFSIGNALED(status))
            return 128 + WTERMSIG(status);
        deliver = 0;
        int signal = WSTOPSIG(status);
        if (signal == SIGSTOP) {
            stepping = 1;
            begun = 0;
            steps = 0;
        } else if (signal == SIGTRAP && stepping) {
            if (shared->counting) {
                begun = 1;
                steps++;
            } else if (begun) {
                *shared->result = (double)steps;
                stepping = 0;
            }
        } else {
            deliver = signal;
        }
    }
}

static void print_steps(const char *name, const char *level, size_t bytes)
{
    static int row;
    volatile double *steps = shared->steps[row], *empty = shared->empty[row];
    double pshmem = (steps[0] - empty[0]) / FEW_CALLS;
    printf("oshbench bench=%s/off memory=heap bytes=%zu instructions=%.1f limit_instructions=%.1f\n", name, bytes,
           (steps[1] - empty[0]) / FEW_CALLS, pshmem);
    printf("oshbench bench=%s/%s memory=heap bytes=%zu instructions=%.1f limit_instructions=%.1f\n", name, level, bytes,
           (steps[2] - empty[2]) / (double)shared->calls[row], pshmem);
    row++;
}

#define PRINT_STEPS(name, bytes, level, call) print_steps(#name, level, bytes);

int main(int argc, char **argv)
{
    long many = quick_asked(argc, argv) ? MANY_CALLS / 4 : MANY_CALLS;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    /* Tracer and traced run in turn: on one core that is a switch, on two a wake-up across them, a lot slower. */
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    sched_setaffinity(0, sizeof here, &here);

    pid_t child = fork();
    if (child == 0)
        return traced(many);
    if (child < 0) {
        perror("fork");
        return 1;
    }
    int status = trace(child);
    if (status == -1) {
        int why = errno;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        printf("oshbench note=instructions unavailable: ptrace: %s\n", strerror(why));
        return 0;
    }
    if (status != 0) {
        fprintf(stderr, "the traced program ended with status %d\n", status);
        return 1;
    }
    CALLS(PRINT_STEPS)
    return 0;
}

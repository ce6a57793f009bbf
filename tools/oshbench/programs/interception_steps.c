/*
 * Instructions of one call, counted exactly: a tracer runs the calls one machine instruction at a time. It needs no
 * hardware counters, which virtual machines often lack. Runs as a single PE, without a launcher.
 *
 * The least of several calls counts: at level 1 that is a call that is not sampled. A mean would say nothing about
 * samples, since a recorder that times long calls more often sees every traced call as a long one.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "shmem_bench.h"
#include "interception.h"

#include <pshmem.h>

#define COUNTED 32
#define WARM_UP 4096 /* at full speed: what the library and the profile set up at first is not part of a call */

enum { PSHMEM, OFF, ON, EMPTY, VARIANTS };
enum { ROWS = 64 };

/* Shared by the tracer and the traced. */
struct shared {
    volatile int inside;  /* 1 while a call runs */
    volatile int stepped; /* 1 from the first call to be counted to the last */
    volatile int row, variant;
    long steps[ROWS][VARIANTS]; /* of the shortest call */
};
static struct shared *shared;

/* The tracer waits for the stop, and steps from there through all the calls. */
#define COUNT_STEPS(row_, variant_, body)         \
    do {                                          \
        for (int w_ = 0; w_ < WARM_UP; w_++) {    \
            body;                                 \
            KEEP();                               \
        }                                         \
        shared->row = (row_);                     \
        shared->variant = (variant_);             \
        shared->stepped = 1;                      \
        raise(SIGSTOP);                           \
        for (int i_ = 0; i_ < COUNTED; i_++) {    \
            shared->inside = 1;                   \
            body;                                 \
            KEEP();                               \
            shared->inside = 0;                   \
        }                                         \
        shared->stepped = 0;                      \
    } while (0)

#define STEPS_OF(name, bytes, level, call)                \
    do {                                                  \
        shmem_pcontrol(0);                                \
        COUNT_STEPS(row, PSHMEM, pshmem_##call);          \
        COUNT_STEPS(row, OFF, shmem_##call);              \
        if ((level)[0] != 0) {                            \
            shmem_pcontrol(1);                            \
            COUNT_STEPS(row, ON, shmem_##call);           \
        }                                                 \
        COUNT_STEPS(row, EMPTY, );                        \
        row++;                                            \
    } while (0);

static int traced(void)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    shmem_init();
    long *word = symmetric(LONG_BYTES);
    static long near[LONG_BYTES / sizeof(long)];
    int pe = shmem_my_pe();
    int row = 0;
    uint64_t *signal_word = shmem_calloc(1, sizeof *signal_word);
    CALLS(STEPS_OF)
    CALLS_OFF(STEPS_OF)
    shmem_free(signal_word);
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
    int stepping = 0, deliver = 0;
    for (;;) {
        if (ptrace(stepping ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, (void *)(long)deliver) != 0)
            return -1;
        if (waitpid(child, &status, 0) != child)
            return -1;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        if (WIFSIGNALED(status))
            return 128 + WTERMSIG(status);
        int signal = WSTOPSIG(status);
        deliver = signal != SIGSTOP && signal != SIGTRAP ? signal : 0;
        if (signal == SIGSTOP)
            steps = 0;
        stepping = shared->stepped;
        if (signal != SIGTRAP)
            continue;
        if (shared->inside) {
            steps++;
        } else if (steps > 0) {
            long *least = &shared->steps[shared->row][shared->variant];
            *least = *least == 0 || steps < *least ? steps : *least;
            steps = 0;
        }
    }
}

static void print_steps(const char *name, const char *level, size_t bytes)
{
    static int row;
    const long *steps = shared->steps[row++];
    const char *const levels[] = {[OFF] = "off", [ON] = level};
    for (int variant = OFF; variant <= (level[0] != 0 ? ON : OFF); variant++)
        printf("oshbench bench=%s/%s memory=heap bytes=%zu instructions=%ld limit_instructions=%ld\n", name,
               levels[variant], bytes, steps[variant] - steps[EMPTY], steps[PSHMEM] - steps[EMPTY]);
}

#define PRINT_STEPS(name, bytes, level, call) print_steps(#name, level, bytes);

int main(int argc, char **argv)
{
    quick_asked(argc, argv);
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
        return traced();
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
    CALLS_OFF(PRINT_STEPS)
    return 0;
}

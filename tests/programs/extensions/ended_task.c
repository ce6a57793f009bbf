/* Tasks on stacks of their own, which the handler of an error ends: it switches to the scheduler, which gives the stack
 * back. The second one's lies lower, so that the first one's mark looks further out. */
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <shmem.h>
#include <shmemx.h>

enum { STACK = 1 << 18, APART = 64 << 20 };

static ucontext_t scheduler, task;
static long word;
static int errors;

static void handler(const shmemx_error_t *error, void *data) {
    (void)error;
    (void)data;
    errors++;
    setcontext(&scheduler);
}

static void work(void) { shmem_long_p(&word, 1, 77); }

static void start(char *stack) {
    getcontext(&task);
    task.uc_stack.ss_sp = stack;
    task.uc_stack.ss_size = STACK;
    makecontext(&task, work, 0);
    setcontext(&task);
}

int main(void) {
    shmem_init();
    shmemx_errhandler_set(SHMEM_TEAM_INVALID, handler, NULL);
    char *low = mmap(NULL, APART + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (low == MAP_FAILED) return 1;
    char *high = low + APART;
    static volatile int step;
    getcontext(&scheduler);
    if (step == 0) {
        step = 1;
        start(high);
    }
    if (step == 1) {
        step = 2;
        munmap(high, STACK);
        start(low);
    }
    printf("%d errors\n", errors);
    shmem_finalize();
}

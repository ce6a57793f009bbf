/* A tool that settles everything when it is loaded: looks up what it goes on to, asks for addresses, starts to sample.
 * Later it forks, starts programs and loads libraries from within calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pshmem.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*next_put)(long *, const long *, size_t, int), (*next_init)(void), (*next_finalize)(void);
static void (*next_p)(long *, long, int);
static void (*volatile next_barrier)(void);
static volatile long samples, puts_seen, p_seen, barriers_seen;

static void must(int condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "early: %s\n", what);
    abort();
}

static void sample(int signal) {
    (void)signal;
    samples++;
}

__attribute__((constructor)) static void begin(void) {
    next_init = (void (*)(void))dlsym(RTLD_NEXT, "shmem_init");
    next_put = (void (*)(long *, const long *, size_t, int))dlsym(RTLD_NEXT, "shmem_long_put");
    next_finalize = (void (*)(void))dlsym(RTLD_NEXT, "pshmem_finalize");
    next_p = (void (*)(long *, long, int))dlsym(RTLD_DEFAULT, "pshmem_long_p");
    next_barrier = pshmem_barrier_all;
    must(next_init && next_put && next_finalize && next_p, "a routine was not found");
    must(dlsym(RTLD_NEXT, "strlen") != NULL && dlsym(RTLD_NEXT, "shmem_no_such_routine") == NULL, "other names");
    struct sigaction action = {.sa_handler = sample, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 2000}, {0, 2000}};
    must(sigaction(SIGPROF, &action, NULL) == 0 && setitimer(ITIMER_PROF, &often, NULL) == 0, "no timer");
}

/* Another program, without what was preloaded into this one. */
static int run_program(void) {
    char *arguments[] = {"true", NULL}, *environment[] = {NULL};
    pid_t child;
    int status = 1;
    if (posix_spawnp(&child, "true", NULL, NULL, arguments, environment) != 0) return 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

static void *helper(void *unused) {
    usleep(2000);
    return unused;
}

void shmem_init(void) {
    next_init();
    pthread_t thread;
    must(pthread_create(&thread, NULL, helper, NULL) == 0 && pthread_detach(thread) == 0, "no thread");
    pid_t child = fork();
    if (child == 0) _exit(3);
    int status = 0;
    must(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3, "no child");
    must(dlopen("libdl.so.2", RTLD_NOW | RTLD_GLOBAL) != NULL, "no library");
    must(run_program(), "no program");
}

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe) {
    puts_seen++;
    next_put(dest, source, nelems, pe);
}

void shmem_long_p(long *dest, long value, int pe) {
    p_seen++;
    next_p(dest, value, pe);
}

void shmem_barrier_all(void) {
    barriers_seen++;
    next_barrier();
}

void shmem_finalize(void) {
    must(run_program(), "no program");
    printf("%s on %d: put %ld p %ld barrier %ld\n", NAME, pshmem_my_pe(), puts_seen, p_seen, barriers_seen);
    fflush(stdout);
    next_finalize();
}

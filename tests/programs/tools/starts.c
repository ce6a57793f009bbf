/* Tools whose constructors do what is not the end of the process, or call: VERSION asks the next tool, COUNTS counts
 * that, CHILDREN has children that end, THREADED initializes with threads. */
#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef VERSION
__attribute__((constructor)) static void begin(void) {
    int major, minor;
    pshmem_info_get_version(&major, &minor);
    printf("version %d.%d\n", major, minor);
    fflush(stdout);
}
void shmem_barrier_all(void) { pshmem_barrier_all(); }
#endif
#ifdef COUNTS
static int asked;
void shmem_info_get_version(int *major, int *minor) {
    asked++;
    pshmem_info_get_version(major, minor);
    asked += *major < 0;
}
void shmem_finalize(void) {
    printf("asked %d\n", asked);
    fflush(stdout);
    pshmem_finalize();
}
#endif
#ifdef CHILDREN
static int child(void (*end)(int)) {
    pid_t pid = fork();
    if (pid == 0) end(3);
    int status = -1;
    return waitpid(pid, &status, 0) == pid ? status : -1;
}
static void aborts(int status) {
    (void)status;
    abort();
}
__attribute__((constructor)) static void begin(void) {
    int by_exit = child(exit), at_once = child(_exit), by_signal = child(aborts);
    printf("exit %d _exit %d signal %d\n", WEXITSTATUS(by_exit), WEXITSTATUS(at_once), WTERMSIG(by_signal));
    fflush(stdout);
}
void shmem_barrier_all(void) { pshmem_barrier_all(); }
#endif
#ifdef THREADED
void shmem_init(void) {
    int provided;
    pshmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    pshmem_barrier_all();
}
#endif

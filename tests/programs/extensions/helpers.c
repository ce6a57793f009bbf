/* Threads that move collectives on: as many as the first argument says once a PE has begun one, none before; no signal
 * of the program's is handled there; they outlive finalize and serve the next life; a forked child has none and harms
 * nobody; with a second argument, the program leaves in the middle. */
#include <shmemx.h>
#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { LIVES = 5, OPEN = 32, BYTES = 1 << 16 };

static char target[OPEN][BYTES], source[BYTES];

/* Of a thread's own faults: nobody is told of these where they are blocked. */
static bool is_fault(int signal) {
    return signal == SIGILL || signal == SIGBUS || signal == SIGFPE || signal == SIGSEGV;
}

/* Whether a thread is one of them, which have all other signals blocked. */
static bool is_helper(const char *thread) {
    char path[300], line[256], name[64] = "";
    unsigned long long blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *status = fopen(path, "r");
    if (status == NULL) return false;
    while (fgets(line, sizeof line, status) != NULL) {
        sscanf(line, "Name: %63s", name);
        sscanf(line, "SigBlk: %llx", &blocked);
    }
    fclose(status);
    if (strcmp(name, "pellucid-helper") != 0) return false;
    for (int signal = 1; signal < 32; signal++) {
        bool is_blocked = (blocked >> (signal - 1) & 1) != 0;
        CHECKF(signal == SIGKILL || signal == SIGSTOP || is_blocked != is_fault(signal), "signal %d", signal);
    }
    return true;
}

static int helpers(void) {
    int count = 0;
    DIR *threads = opendir("/proc/self/task");
    CHECK(threads != NULL);
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;)
        if (entry->d_name[0] != '.') count += is_helper(entry->d_name);
    closedir(threads);
    return count;
}

/* The child of a fork in the middle of collectives may do its own things, and end. */
static void forked(void) {
    pid_t child = fork();
    if (child == 0) {
        char own[64];
        memset(own, me, sizeof own);
        _exit(own[63] == (char)me ? 3 : 4);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 3);
}

int main(int argc, char **argv) {
    int expected = atoi(argv[1]);
    for (int life = 0; life < LIVES; life++) {
        begin();
        CHECK_EQ(helpers(), life == 0 ? 0 : expected);
        shmemx_req_h requests[OPEN];
        memset(source, 'a' + life, sizeof source);
        shmem_barrier_all();
        for (int k = 0; k < OPEN; k++)
            CHECK_EQ(shmemx_char_broadcast_nb(SHMEM_TEAM_WORLD, target[k], source, BYTES, k % npes, &requests[k]), 0);
        /* A thread that has just been made gives itself its name. */
        for (int looks = 0; life == 0 && helpers() < expected && looks < 10000; looks++) usleep(1000);
        CHECK_EQ(helpers(), expected);
        if (argc > 2 && life == LIVES - 1) exit(0);
        forked();
        CHECK_EQ(shmemx_req_wait_all(OPEN, requests), 0);
        for (int k = 0; k < OPEN; k++) CHECK(target[k][0] == 'a' + life && target[k][BYTES - 1] == 'a' + life);
        shmem_finalize();
    }
    return 0;
}

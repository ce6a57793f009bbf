/* A PE has begun a nonblocking collective, whose message waits for another one, and forks: its child may wait for what
 * others write. */
#include <shmemx.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static long target[100], source[100];

int main(void) {
    begin();
    shmemx_req_h request;
    /* Of the heap: a child has a copy of what is static. */
    long *words = shmem_calloc(3, sizeof *words), *word = words, *waits = words + 1, *is_over = words + 2;
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(shmemx_long_broadcast_nb(SHMEM_TEAM_WORLD, target, source, 100, 0, &request), 0);
        pid_t child = fork();
        if (child == 0) {
            shmem_long_p(waits, 1, 1);
            shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
            _exit(3);
        }
        int status;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 3);
        for (int pe = 1; pe < npes; pe++) shmem_long_p(is_over, 1, pe);
    } else {
        if (me == 1) {
            shmem_long_wait_until(waits, SHMEM_CMP_EQ, 1);
            /* The child goes on waiting for long enough to look for messages. */
            usleep(20000);
            shmem_long_p(word, 1, 0);
        }
        shmem_long_wait_until(is_over, SHMEM_CMP_EQ, 1);
        CHECK_EQ(shmemx_long_broadcast_nb(SHMEM_TEAM_WORLD, target, source, 100, 0, &request), 0);
    }
    CHECK_EQ(shmemx_req_wait(&request), 0);
    return end();
}

/* main returns while another thread is in shmem_init, inside the libfabric of slow.c. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *begin(void *unused)
{
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    return unused;
}

int main(void)
{
    char name[4096];
    pthread_t thread;
    if (pthread_create(&thread, NULL, begin, NULL) != 0) {
        return 2;
    }
    snprintf(name, sizeof name, "%s.%d", getenv("SLOW_MARK"), (int)getpid());
    while (access(name, F_OK) != 0) {
        usleep(1000);
    }
    return 0;
}

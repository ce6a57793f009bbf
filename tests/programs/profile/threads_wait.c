/* Four threads of PE 0 wait at the same time, each in a region, for what PE 1 sets after 50 ms without a core. */
#include <pthread.h>
#include <shmem.h>
#include <shmemx.h>
#include <time.h>

enum { THREADS = 4 };

static long flag;

static void *wait(void *argument) {
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, "waiting");
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "waiting");
    return argument;
}

int main(void) {
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (provided != SHMEM_THREAD_MULTIPLE) return 2;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        pthread_t threads[THREADS];
        for (int i = 1; i < THREADS; i++) pthread_create(&threads[i], NULL, wait, NULL);
        wait(NULL);
        for (int i = 1; i < THREADS; i++) pthread_join(threads[i], NULL);
    } else {
        struct timespec pause = {0, 50000000};
        nanosleep(&pause, NULL);
        shmem_long_p(&flag, 1, 0);
    }
    shmem_finalize();
    return 0;
}

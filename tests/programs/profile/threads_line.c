/* The main thread of each PE computes for 100 ms of processor time, in line for a core with those of other PEs; its
 * second thread waits meanwhile for a flag, asleep. */
#include <pthread.h>
#include <shmem.h>
#include <time.h>

static long flag;

static void *await(void *argument) {
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    return argument;
}

static double on_core(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
    int provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (provided != SHMEM_THREAD_MULTIPLE) return 2;
    shmem_barrier_all();
    pthread_create(&thread, NULL, await, NULL);
    double begin = on_core();
    while (on_core() < begin + 0.1);
    shmem_long_p(&flag, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    pthread_join(thread, NULL);
    shmem_finalize();
    return 0;
}

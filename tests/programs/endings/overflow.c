/* PE 1 has no room left on its stack: by calls without end, or, with "array", by an object that is larger than it; with
   "thread", a thread has none by calls, with "thread-array" by an object. */
#include <pthread.h>
#include <shmem.h>
#include <string.h>

static volatile int kept;

__attribute__((noinline)) static int deeper(int depth) {
    volatile char block[4096];
    block[depth % 4096] = (char)depth;
    return deeper(depth + 1) + block[0]; /* calls */
}

__attribute__((noinline)) static int large(void) {
    volatile char array[64 << 20];
    array[kept] = 1; /* array */
    return array[kept + 4096];
}

__attribute__((noinline)) static int less_large(void) {
    volatile char array[300 << 10];
    array[kept] = 1; /* array of a thread */
    return array[kept + 4096];
}

static void *thread(void *what) {
    pthread_barrier_t *barrier = what;
    shmem_my_pe();
    if (barrier) pthread_barrier_wait(barrier);
    kept = barrier ? deeper(0) : less_large();
    return NULL;
}

static int in_thread(int by_calls) {
    pthread_attr_t attributes;
    pthread_barrier_t barrier;
    pthread_t threads[2];
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_attr_setguardsize(&attributes, 1 << 20);
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], &attributes, thread, by_calls ? &barrier : NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "calls";
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        if (strncmp(how, "thread", 6) == 0) kept = in_thread(strcmp(how, "thread") == 0);
        else kept = strcmp(how, "array") == 0 ? large() : deeper(0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

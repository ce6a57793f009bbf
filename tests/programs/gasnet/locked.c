/* Threads that put, get and wait, and count: under a handler-safe lock, with -DMUTEX under one of POSIX, with -DRACES
 * without any. */
#include "job.h"
#include <pthread.h>

#define THREADS 3
#define TURNS 200

gex_HSL_t handler_safe = GEX_HSL_INITIALIZER;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *theirs;
static long counted;

static void count(void)
{
#if defined(MUTEX)
    pthread_mutex_lock(&mutex);
    counted++;
    pthread_mutex_unlock(&mutex);
#elif defined(RACES)
    counted++;
#else
    if (gex_HSL_Trylock(&handler_safe) != GASNET_OK)
        gex_HSL_Lock(&handler_safe);
    counted++;
    gex_HSL_Unlock(&handler_safe);
#endif
}

static void *work(void *argument)
{
    size_t at = 8 * (size_t)(uintptr_t)argument;
    for (long turn = 0; turn < TURNS; turn++) {
        long got = -1;
        gex_Event_Wait(gex_RMA_PutNB(world, 0, theirs + at, &turn, sizeof turn, GEX_EVENT_NOW, 0));
        gex_RMA_GetBlocking(world, &got, 0, theirs + at, sizeof got, 0);
        CHECK(got == turn);
        count();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin(argc, argv, NULL, 0, 1);
    theirs = segment_of(0);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("counted %ld\n", counted);
    return finish();
}

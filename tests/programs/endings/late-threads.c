/* To be preloaded: every thread begins late, as on a machine with much to do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *(*function)(void *);
struct start {
    function begin;
    void *argument;
};

static void *late(void *place) {
    struct start start = *(struct start *)place;
    free(place);
    usleep(400000);
    return start.begin(start.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, function begin, void *argument) {
    int (*create)(pthread_t *, const pthread_attr_t *, function, void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    struct start *start = malloc(sizeof *start);
    start->begin = begin;
    start->argument = argument;
    return create(thread, attributes, late, start);
}

/*
 * The libraries of compilers for Fortran and C++ use these weakly, and take it that a program with threads has them all. A
 * static program with libsma has threads, and only those of these functions that something names: so this does. Nothing
 * uses the table: link_objects in x keeps it, and what links libsma.so drops it.
 */
#define _XOPEN_SOURCE 700 /* locks of many readers */
#include <pthread.h>

void (*const pellucid_threads[])(void) __attribute__((used, visibility("hidden"))) = {
    (void (*)(void))pthread_mutex_init,      (void (*)(void))pthread_mutex_destroy,  (void (*)(void))pthread_mutex_lock,
    (void (*)(void))pthread_mutex_trylock,   (void (*)(void))pthread_mutex_unlock,   (void (*)(void))pthread_cond_init,
    (void (*)(void))pthread_cond_destroy,    (void (*)(void))pthread_cond_wait,      (void (*)(void))pthread_cond_signal,
    (void (*)(void))pthread_cond_broadcast,  (void (*)(void))pthread_once,           (void (*)(void))pthread_create,
    (void (*)(void))pthread_join,            (void (*)(void))pthread_self,           (void (*)(void))pthread_key_create,
    (void (*)(void))pthread_key_delete,      (void (*)(void))pthread_getspecific,    (void (*)(void))pthread_setspecific,
    (void (*)(void))pthread_rwlock_init,     (void (*)(void))pthread_rwlock_destroy, (void (*)(void))pthread_rwlock_rdlock,
    (void (*)(void))pthread_rwlock_wrlock,   (void (*)(void))pthread_rwlock_unlock,  (void (*)(void))pthread_rwlock_tryrdlock,
    (void (*)(void))pthread_rwlock_trywrlock,
};

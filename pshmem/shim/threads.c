/*
 * The libraries of compilers for Fortran and C++ use these weakly, and take it that a program with threads has them
 * all. A static program with libsma has threads, and only those of these functions that something names: so this
 * does. Nothing uses the table: link_objects in x keeps it, and what links libsma.so drops it.
 */
#define _XOPEN_SOURCE 700 /* locks of many readers */
#include <pthread.h>

#define NAMED(function) (void (*)(void))function

void (*const pellucid_threads[])(void) __attribute__((used, visibility("hidden"))) = {
    NAMED(pthread_mutex_init), NAMED(pthread_mutex_destroy), NAMED(pthread_mutex_lock),
    NAMED(pthread_mutex_trylock), NAMED(pthread_mutex_unlock), NAMED(pthread_cond_init),
    NAMED(pthread_cond_destroy), NAMED(pthread_cond_wait), NAMED(pthread_cond_signal),
    NAMED(pthread_cond_broadcast), NAMED(pthread_once), NAMED(pthread_create), NAMED(pthread_join),
    NAMED(pthread_self), NAMED(pthread_key_create), NAMED(pthread_key_delete), NAMED(pthread_getspecific),
    NAMED(pthread_setspecific), NAMED(pthread_rwlock_init), NAMED(pthread_rwlock_destroy),
    NAMED(pthread_rwlock_rdlock), NAMED(pthread_rwlock_wrlock), NAMED(pthread_rwlock_unlock),
    NAMED(pthread_rwlock_tryrdlock), NAMED(pthread_rwlock_trywrlock),
};

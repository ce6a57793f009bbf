/*
 * GASNet tools on Pellucid: locks and conditions of threads, and variables that each thread has. They are POSIX's, in
 * every thread mode; what asserts how a lock is does nothing, as in libraries that are not made to be debugged.
 */
#ifndef _GEX_LOCKS_H
#define _GEX_LOCKS_H

#include <pthread.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pthread_mutex_t gasnett_mutex_t;
#define GASNETT_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define gasnett_mutex_init(m) ((void)pthread_mutex_init((m), NULL))
#define gasnett_mutex_destroy(m) ((void)pthread_mutex_destroy(m))
#define gasnett_mutex_destroy_ignoreerr(m) pthread_mutex_destroy(m)
#define gasnett_mutex_lock(m) ((void)pthread_mutex_lock(m))
#define gasnett_mutex_trylock(m) pthread_mutex_trylock(m)
#define gasnett_mutex_unlock(m) ((void)pthread_mutex_unlock(m))
#define gasnett_mutex_assertlocked(m) ((void)(m))
#define gasnett_mutex_assertunlocked(m) ((void)(m))

typedef pthread_cond_t gasnett_cond_t;
#define GASNETT_COND_INITIALIZER PTHREAD_COND_INITIALIZER
#define gasnett_cond_init(c) ((void)pthread_cond_init((c), NULL))
#define gasnett_cond_destroy(c) ((void)pthread_cond_destroy(c))
#define gasnett_cond_signal(c) ((void)pthread_cond_signal(c))
#define gasnett_cond_broadcast(c) ((void)pthread_cond_broadcast(c))
#define gasnett_cond_wait(c, m) ((void)pthread_cond_wait((c), (m)))

/* Locks of many readers or one writer. POSIX's have no name with -std=c11 alone: the library keeps one in this room. */
typedef struct {
    uint64_t pellucid_words[8];
} gasnett_rwlock_t;
#define GASNETT_RWLOCK_INITIALIZER \
    { \
        { \
            0, 0, 0, 0, 0, 0, 0, 0 \
        } \
    }
void gasnett_rwlock_init(gasnett_rwlock_t *lock);
void gasnett_rwlock_destroy(gasnett_rwlock_t *lock);
void gasnett_rwlock_rdlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_wrlock(gasnett_rwlock_t *lock);
int gasnett_rwlock_tryrdlock(gasnett_rwlock_t *lock);
int gasnett_rwlock_trywrlock(gasnett_rwlock_t *lock);
void gasnett_rwlock_unlock(gasnett_rwlock_t *lock);
#define gasnett_rwlock_assertlocked(lock) ((void)(lock))
#define gasnett_rwlock_assertrdlocked(lock) ((void)(lock))
#define gasnett_rwlock_assertwrlocked(lock) ((void)(lock))
#define gasnett_rwlock_assertunlocked(lock) ((void)(lock))

/* Variables that each thread has. */
#define GASNETT_THREADKEY_DECLARE(key) extern __thread void *pellucid_threadkey_##key
#define GASNETT_THREADKEY_DEFINE(key) __thread void *pellucid_threadkey_##key
#define gasnett_threadkey_init(key) ((void)0)
#define gasnett_threadkey_get(key) (pellucid_threadkey_##key)
#define gasnett_threadkey_get_noinit(key) (pellucid_threadkey_##key)
#define gasnett_threadkey_set(key, value) ((void)(pellucid_threadkey_##key = (void *)(value)))
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)

#ifdef __cplusplus
}
#endif

#endif

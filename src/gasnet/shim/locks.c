/* gasnett_rwlock_*: POSIX's locks of many readers or one writer, in the room that pellucid_gex_locks.h has for them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#define TOOL __attribute__((visibility("default")))

/* As in pellucid_gex_locks.h; zeroes, which are its initializer there, are PTHREAD_RWLOCK_INITIALIZER. */
union lock {
    unsigned long long words[8];
    pthread_rwlock_t posix;
};
_Static_assert(sizeof(union lock) == 64, "the room that the header has");

void gasnett_rwlock_init(union lock *lock);
void gasnett_rwlock_destroy(union lock *lock);
void gasnett_rwlock_rdlock(union lock *lock);
void gasnett_rwlock_wrlock(union lock *lock);
int gasnett_rwlock_tryrdlock(union lock *lock);
int gasnett_rwlock_trywrlock(union lock *lock);
void gasnett_rwlock_unlock(union lock *lock);

TOOL void gasnett_rwlock_init(union lock *lock)
{
    (void)pthread_rwlock_init(&lock->posix, NULL);
}

TOOL void gasnett_rwlock_destroy(union lock *lock)
{
    (void)pthread_rwlock_destroy(&lock->posix);
}

TOOL void gasnett_rwlock_rdlock(union lock *lock)
{
    /* There may be more readers than it can count: until one has left. */
    while (pthread_rwlock_rdlock(&lock->posix) == EAGAIN)
        sched_yield();
}

TOOL void gasnett_rwlock_wrlock(union lock *lock)
{
    (void)pthread_rwlock_wrlock(&lock->posix);
}

TOOL int gasnett_rwlock_tryrdlock(union lock *lock)
{
    return pthread_rwlock_tryrdlock(&lock->posix);
}

TOOL int gasnett_rwlock_trywrlock(union lock *lock)
{
    return pthread_rwlock_trywrlock(&lock->posix);
}

TOOL void gasnett_rwlock_unlock(union lock *lock)
{
    (void)pthread_rwlock_unlock(&lock->posix);
}

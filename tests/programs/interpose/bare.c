/* A tool for the executable. With WRAP it is one for -Wl,--wrap, whose functions have other names. */
#include <pshmem.h>

#ifdef WRAP
#define NAME(name) __wrap_##name
#else
#define NAME(name) name
#endif

static long seen;

void NAME(shmem_putmem)(void *dest, const void *source, size_t nelems, int pe) {
    seen++;
    pshmem_putmem(dest, source, nelems, pe);
    seen++;
}

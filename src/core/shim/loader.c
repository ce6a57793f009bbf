/*
 * The dynamic loader, where there is one. A strong reference would pull the loader into static executables, which the linker
 * warns of and which could not use it.
 */
#include <dlfcn.h>
#include <stddef.h>

extern __typeof__(dlopen) dlopen __attribute__((weak));
extern __typeof__(dlsym) dlsym __attribute__((weak));
extern __typeof__(dlerror) dlerror __attribute__((weak));

__attribute__((visibility("hidden"))) int pellucid_has_loader(void);
__attribute__((visibility("hidden"))) void *pellucid_dlopen(const char *path, int flags);
__attribute__((visibility("hidden"))) void *pellucid_dlsym(void *handle, const char *name);
__attribute__((visibility("hidden"))) const char *pellucid_dlerror(void);

int pellucid_has_loader(void)
{
    return dlopen != NULL && dlsym != NULL && dlerror != NULL;
}

void *pellucid_dlopen(const char *path, int flags)
{
    return dlopen(path, flags);
}

void *pellucid_dlsym(void *handle, const char *name)
{
    return dlsym(handle, name);
}

const char *pellucid_dlerror(void)
{
    return dlerror();
}

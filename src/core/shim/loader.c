/*
 * The dynamic loader, where there is one. It is asked for by name: a reference to dlopen, weak or not, would have the
 * linker warn of every static executable, and there it could not be used.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("hidden"))) int pellucid_has_loader(void);
__attribute__((visibility("hidden"))) void *pellucid_dlopen(const char *path, int flags);
__attribute__((visibility("hidden"))) void *pellucid_dlsym(void *handle, const char *name);
__attribute__((visibility("hidden"))) const char *pellucid_dlerror(void);

typedef void *open_function(const char *path, int flags);

static open_function *opener(void)
{
    return (open_function *)dlsym(RTLD_DEFAULT, "dlopen");
}

int pellucid_has_loader(void)
{
    return opener() != NULL;
}

void *pellucid_dlopen(const char *path, int flags)
{
    return opener()(path, flags);
}

void *pellucid_dlsym(void *handle, const char *name)
{
    return dlsym(handle, name);
}

const char *pellucid_dlerror(void)
{
    return dlerror();
}

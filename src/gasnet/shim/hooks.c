/* Variables that clients set, or define themselves: weak, so that a static program has the client's own. */
#include <stdint.h>

#define HOOK __attribute__((weak, visibility("default")))

/* gasnett_backtrace_user: not read, since the library finds stacks itself. */
struct pellucid_gex_backtrace_type {
    const char *name;
    int (*function)(int fd);
    int threads;
};
extern struct pellucid_gex_backtrace_type gasnett_backtrace_user;
HOOK struct pellucid_gex_backtrace_type gasnett_backtrace_user = {0, 0, 0};

/* Told of a segment once it is there (src/segment.rs). */
extern void (*gasnet_client_attach_hook)(void *address, uintptr_t size);
HOOK void (*gasnet_client_attach_hook)(void *address, uintptr_t size) = 0;

int pellucid_gex_backtrace_if_enabled(int fd);
extern int (*gasnett_print_backtrace_ifenabled)(int fd);
HOOK int (*gasnett_print_backtrace_ifenabled)(int fd) = pellucid_gex_backtrace_if_enabled;

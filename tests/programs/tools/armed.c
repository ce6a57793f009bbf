/* Prints where `shmem_long_p` and `shmem_long_g` are recorded: at `shmem_X`, at `pshmem_X`. The flags that say so are
 * the library's own: ARM and PARM are where they lie in the shared library, ARM_SYMBOL and PARM_SYMBOL what they are
 * called in an archive that shows them; P and G are the numbers of the routines. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <stdio.h>

static long x;

#ifdef ARM_SYMBOL
extern const unsigned char arm[] __asm__(ARM_SYMBOL), parm[] __asm__(PARM_SYMBOL);
#endif

int main(void) {
    shmem_init();
#ifdef TAKES_ADDRESS
    void (*volatile address)(long *, long, int) = shmem_long_p;
    address(&x, 1, 0);
#endif
    shmem_long_p(&x, 2, 0);
#ifndef ARM_SYMBOL
    Dl_info library;
    if (!dladdr(dlsym(RTLD_DEFAULT, "pshmem_long_p"), &library)) return 1;
    const unsigned char *base = library.dli_fbase, *arm = base + ARM, *parm = base + PARM;
#endif
    printf("p %d %d g %d %d x %ld\n", arm[P], parm[P], arm[G], parm[G], x);
    shmem_finalize();
    return 0;
}

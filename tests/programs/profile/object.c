/* A shared object that calls the library: copies of it are as many objects. */
#include <shmem.h>

void call_it(long *cell) { shmem_long_p(cell, 1, 0); }

/* A tool that wraps shmem_long_p only. */
#include <pshmem.h>

int tool_calls;

void shmem_long_p(long *dest, long value, int pe) {
    tool_calls++;
    pshmem_long_p(dest, value, pe);
}

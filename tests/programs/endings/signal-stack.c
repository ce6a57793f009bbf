/* PE 0 ends by abort with a stack for signals of so many bytes behind a page that cannot be used: signal-stack BYTES.
   The standard library of Rust gives each thread such a one, of 8 KiB. */
#define _GNU_SOURCE
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **words)
{
    size_t bytes = count > 1 ? strtoul(words[1], NULL, 0) : 8192;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0)
        return 2;
    stack_t stack = {.ss_sp = memory + page, .ss_size = bytes};
    if (sigaltstack(&stack, NULL) != 0)
        return 3;
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        abort();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

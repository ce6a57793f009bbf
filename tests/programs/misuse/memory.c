/* Mistakes with the heap, which all PEs make together: free is collective. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

static long fixed[16];

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    shmem_init();
    char *block = shmem_malloc(256), *other = shmem_malloc(256), local[64];
    memset(block, 1, 256);
    memset(local, 1, 64);
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("double-free") { shmem_free(block); shmem_free(block); }
    CASE("inside") shmem_free(block + 16);
    CASE("stack") shmem_free(local);
    CASE("static") shmem_free(fixed);
    CASE("private") shmem_free(malloc(64));
    CASE("realloc-foreign") return shmem_realloc(malloc(64), 100) == NULL;
    CASE("realloc-freed") { shmem_free(block); return shmem_realloc(block, 1000) == NULL; }
    CASE("alignment") return shmem_align(24, 100) == NULL;
    shmem_finalize();
    return 0;
}

/* A handler's error is its own until it returns, whatever the calls that it makes come to. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmem.h>
#include <shmemx.h>

static long word;
static int clears, wrong;

/* Takes what was freed, and overwrites it. */
static void overwrite(void) {
    for (size_t bytes = 16; bytes < 1024; bytes += 8) {
        char *block = malloc(bytes);
        if (block == NULL) abort();
        memset(block, 'J', bytes); /* left allocated */
    }
}

static void handler(const shmemx_error_t *error, void *data) {
    const shmemx_error_t before = *error;
    char text[512];
    snprintf(text, sizeof text, "%s", error->message);
    if (clears)
        shmemx_error_clear();
    else
        shmem_long_p(&word, 1, 12345);
    overwrite();
    wrong += memcmp(&before, error, sizeof before) != 0;
    wrong += strncmp(text, error->message, sizeof text - 1) != 0 || strstr(text, data) == NULL;
}

int main(void) {
    static char path[3000];
    memset(path, 'x', sizeof path - 1);
    shmem_init();
    for (clears = 0; clears < 2; clears++) {
        shmemx_errhandler_set(SHMEM_TEAM_INVALID, handler, "pe = 77");
        shmem_long_put(&word, &word, 1, 77);
        shmemx_errhandler_set(SHMEM_TEAM_INVALID, handler, "xxxx");
        shmemx_file_t file;
        shmemx_file_open(SHMEM_TEAM_WORLD, path, O_RDONLY, 0, &file);
        printf("%s %d\n", clears ? "cleared" : "failed", wrong);
    }
    shmem_finalize();
}

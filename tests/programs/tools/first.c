/* A tool in the executable, which has the program's calls before those in a row and before callbacks do: with ROW one
 * of these, which says what it has seen; else the program, with an argument one that has callbacks. */
#include <pshmem.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>

#ifdef ROW

static int inits, mallocs;

void shmem_init(void) {
    inits++;
    pshmem_init();
}

int shmem_init_thread(int requested, int *provided) {
    inits++;
    return pshmem_init_thread(requested, provided);
}

void *shmem_malloc(size_t bytes) {
    mallocs++;
    return pshmem_malloc(bytes);
}

void shmem_finalize(void) {
    printf("row: init %d malloc %d\n", inits, mallocs);
    fflush(stdout);
    pshmem_finalize();
}

#else

/* As in an object of its own: not copied into main. */
#define TOOL __attribute__((noinline))

TOOL void shmem_init(void) { pshmem_init(); }

TOOL int shmem_init_thread(int requested, int *provided) { return pshmem_init_thread(requested, provided); }

TOOL void *shmem_malloc(size_t bytes) { return pshmem_malloc(bytes); }

TOOL void shmem_finalize(void) { pshmem_finalize(); }

static void tell(const shmemx_event_t *event, void *data) {
    (void)data;
    if (event->phase == SHMEMX_EXIT) {
        printf("callback: %s\n", shmemx_op_name(event->op));
        fflush(stdout);
    }
}

int main(int argc, char **argv) {
    (void)argv;
    int handle;
    if (argc > 1)
        shmemx_callback_register(SHMEMX_CLASS_SETUP, tell, NULL, &handle);
#ifdef THREADED
    int provided;
    shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided);
#else
    shmem_init();
#endif
    shmem_free(shmem_malloc(8));
    shmem_finalize();
    return 0;
}

#endif

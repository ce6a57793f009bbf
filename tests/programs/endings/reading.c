/* PE 0 ends the job while one of its threads reads from a stream for ever: HOW STREAM FILE. Without a STREAM no thread
 * reads. What was written to standard output and to the file before is not flushed by the program. */
#include <pthread.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *read_on(void *stream) {
    char line[100];
    while (fgets(line, sizeof line, stream)) {}
    return NULL;
}

static void at_end(void) {
    static const char words[] = "an exit handler ran\n";
    if (write(1, words, sizeof words - 1) < 0) abort();
}

int main(int count, char **arguments) {
    if (count < 3) return 2;
    const char *how = arguments[1], *stream = arguments[2];
    int provided, ends[2];
    static long word;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (shmem_my_pe() == 0) {
        atexit(at_end);
        FILE *input = NULL, *file = count > 3 ? fopen(arguments[3], "w") : NULL;
        if (pipe(ends) != 0) return 2;
        if (strcmp(stream, "stdin") == 0) input = dup2(ends[0], 0) == 0 ? stdin : NULL;
        if (strcmp(stream, "pipe") == 0) input = fdopen(ends[0], "r");
        pthread_t thread;
        if (input != NULL) pthread_create(&thread, NULL, read_on, input);
        usleep(200000);
        fputs("last words", stdout);
        if (file != NULL) fputs("kept", file);
        if (strcmp(how, "fault") == 0) shmem_long_p(&word, 1, 999);
        if (strcmp(how, "abort") == 0) shmemx_abort_because(7, "no more");
        if (strcmp(how, "global-exit") == 0) shmem_global_exit(7);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

/* Speaks and obeys: the first argument says what to do. */
#include <signal.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("before-init") { printf("early\n"); return 0; }
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    CASE("numbers") printf("PE %d of %d\n", me, npes);
    CASE("arguments") for (int k = 2; k < count; k++) printf("[%s]", arguments[k]);
    CASE("variable") printf("%d:%s\n", me, getenv("FLAVOUR") ? getenv("FLAVOUR") : "unset");
    CASE("pmi") printf("%d %s %s\n", me, getenv("PMI_RANK"), getenv("PMI_SIZE"));
    CASE("input") {
        char line[200];
        long lines = 0, bytes = 0;
        while (fgets(line, sizeof line, stdin) != NULL) { lines++; bytes += (long)strlen(line); }
        printf("PE %d read %ld lines, %ld bytes\n", me, lines, bytes);
    }
    CASE("lines") {
        /* Written in bits, without buffering: the launcher has to make whole lines of them. */
        char letter = (char)('a' + me);
        for (int line = 0; line < 300; line++) {
            for (int k = 0; k < 20; k++) if (write(1, &letter, 1) != 1) return 1;
            if (write(1, "\n", 1) != 1) return 1;
        }
    }
    CASE("big-output") {
        for (int line = 0; line < 20000; line++) printf("PE %d line %d of the output that has to arrive\n", me, line);
    }
    CASE("no-newline") printf("open end %d", me);
    CASE("both") { printf("to stdout\n"); fprintf(stderr, "to stderr\n"); }
    CASE("status") { shmem_finalize(); return me == atoi(arguments[2]) ? atoi(arguments[3]) : 0; }
    CASE("signal") { if (me == atoi(arguments[2])) raise(atoi(arguments[3])); shmem_barrier_all(); }
    CASE("heap") { void *block = shmem_malloc((size_t)atol(arguments[2])); printf("%s\n",
        block ? "fits" : "too large"); }
    CASE("hang") { if (me == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1); shmem_barrier_all(); }
    CASE("sleep") { printf("ready\n"); fflush(stdout); for (;;) pause(); }
    CASE("compute") { printf("ready\n"); fflush(stdout); for (volatile long k = 0;; k++) {} }
    shmem_finalize();
    return 0;
}

/* A program that does not call the library: the first argument says what it does. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void handler(int number) {
    came = number;
    if (write(1, "handled\n", 8) != 8) _exit(1);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    int me = atoi(getenv("PELLUCID_PE"));
    char host[100];
    gethostname(host, sizeof host);
#define CASE(name) if (strcmp(what, name) == 0)
    CASE("where") printf("PE %d of %s on %s\n", me, getenv("PELLUCID_NPES"), host);
    CASE("arguments") for (int k = 2; k < count; k++) printf("[%s]", arguments[k]);
    CASE("variables") {
        char folder[1000];
        printf("%s %s %s %s %s %s\n", getcwd(folder, sizeof folder), getenv("FLAVOUR"), getenv("SHMEM_SYMMETRIC_SIZE"),
            getenv("FI_PROVIDER"), getenv("GASNET_MAX_SEGSIZE"), getenv("HOME") ? "HOME" : "no HOME");
    }
    CASE("input") {
        char line[200];
        long lines = 0, bytes = 0;
        while (fgets(line, sizeof line, stdin) != NULL) { lines++; bytes += (long)strlen(line); }
        printf("PE %d read %ld lines, %ld bytes\n", me, lines, bytes);
    }
    CASE("lines") for (int line = 0; line < 20000; line++)
        printf("PE %d line %d of the output that has to arrive\n", me, line);
    CASE("for-ever") for (;;) if (puts("and so on") < 0) return 1;
    CASE("wait") for (;;) pause();
    CASE("stubborn") { signal(SIGTERM, SIG_IGN); for (;;) pause(); }
    CASE("handler") { signal(SIGUSR1, handler); while (!came) usleep(1000); }
    CASE("nap") { printf("ready\n"); fflush(stdout); sleep(3); printf("woken\n"); }
    /* status PE NUMBER: that PE exits with it, the others wait. signal PE NUMBER: likewise. */
    CASE("status") { if (me == atoi(arguments[2])) return atoi(arguments[3]); for (;;) pause(); }
    CASE("signal") { if (me == atoi(arguments[2])) raise(atoi(arguments[3])); for (;;) pause(); }
    return 0;
}

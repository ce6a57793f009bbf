/* Takes the names by which oshrun keeps cores for a job, as another user, listening or not; then runs a command as this
 * one. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void take(const char *name, int type, int listens) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path + 1, name);
    int fd = socket(AF_UNIX, type, 0);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) != 0) exit(8);
    if (listens && listen(fd, 4) != 0) exit(8);
}

int main(int argc, char **argv) {
    int ready[2], status;
    if (argc < 3 || pipe(ready) != 0) return 9;
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(ready[1]);
        if (read(ready[0], &byte, 1) != 1) return 9;
        execvp(argv[2], argv + 2);
        return 9;
    }
    unsigned user = getuid();
    if (setuid(65534) != 0) return 9;
    for (int cpu = 0; cpu < 64; cpu++) {
        char name[64];
        snprintf(name, sizeof name, "pellucid-%u-cpu-%d", user, cpu);
        take(name, SOCK_STREAM, atoi(argv[1]));
        snprintf(name, sizeof name, "pellucid-cpu-%d", cpu);
        take(name, SOCK_DGRAM, 0);
    }
    if (write(ready[1], "", 1) != 1 || waitpid(child, &status, 0) != child) return 9;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}

/* PE 1 replaces its program: replaced before|after|end PROGRAM, where `self` stands for this one. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void replace(const char *program) {
    char *again[] = {"replaced", NULL}, path[1000];
    snprintf(path, sizeof path, "%s", strcmp(program, "self") == 0 ? "/proc/self/exe" : program);
    execv(path, again);
    perror(path);
}

int main(int count, char **arguments) {
    const char *when = count > 2 ? arguments[1] : "", *rank = getenv("PMI_RANK");
    if (strcmp(when, "before") == 0 && rank != NULL && atoi(rank) == 1) replace(arguments[2]);
    shmem_init();
    int one = shmem_my_pe() == 1;
    if (strcmp(when, "after") == 0 && one) replace(arguments[2]);
    shmem_barrier_all();
    printf("went on\n");
    shmem_finalize();
    if (strcmp(when, "end") == 0 && one) replace(arguments[2]);
    return 0;
}

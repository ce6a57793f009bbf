/* Stands between oshrun and the program, and makes the job one that another release began: in the job's memory, whose
 * first fields are the same in all releases. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
    const char *text = getenv("PELLUCID_JOB_FD");
    if (argc < 2 || !text) return 9;
    char *job = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(text), 0);
    if (job == MAP_FAILED || memcmp(job, "PELLUCID", 8) != 0) return 9;
    strcpy(job + 12, "9.9.9");
    execv(argv[1], argv + 1);
    return 9;
}

/* Says on how many CPUs it may run, of those that there are. No OpenSHMEM in it. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    printf("PE %s: %s\n", getenv("PELLUCID_PE"),
           CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN) ? "bound" : "anywhere");
    return 0;
}

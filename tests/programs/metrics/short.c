/* A job with known numbers. Each PE: 100 shmem_p to its neighbour, 50 puts of 1 KiB, 10 barriers. Then, by argument:
 * "kill": PE 1 is killed; "exit": the last PE ends the job with status 3; "many": the same 1000 times; "load": the same
 * and a nonblocking put, over and over; "stand": PE 0 stays away from a barrier; "snapshot FILE": says whether a
 * snapshot of the metrics is in the file. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long word;
static char block[1024], from[1024];

static void work(void) {
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int i = 0; i < 100; i++) {
        shmem_p(&word, (long)i, next);
    }
    for (int i = 0; i < 50; i++) {
        shmem_putmem(block, from, sizeof block, next);
    }
    for (int i = 0; i < 10; i++) {
        shmem_barrier_all();
    }
}

int main(int argc, char **argv) {
    const char *way = argc > 1 ? argv[1] : "";
    shmem_init();
    work();
    if (!strcmp(way, "kill") && shmem_my_pe() == 1) {
        raise(SIGKILL);
    }
    if (!strcmp(way, "exit") && shmem_my_pe() == shmem_n_pes() - 1) {
        exit(3);
    }
    for (int i = 0; i < 1000 && !strcmp(way, "many"); i++) {
        work();
    }
    while (!strcmp(way, "load")) {
        work();
        shmem_putmem_nbi(block, from, sizeof block, (shmem_my_pe() + 1) % shmem_n_pes());
        shmem_quiet();
    }
    if (!strcmp(way, "stand") && shmem_my_pe() == 0) {
        pause();
    }
    if (!strcmp(way, "snapshot") && shmem_my_pe() == 0) {
        shmem_pcontrol(2);
        puts(access(argv[2], R_OK) ? "no file" : "a file");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}

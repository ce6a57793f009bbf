/* Offers memory that looks like a profile by its name, and is not sealed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    int fd = memfd_create("pellucid-profile", MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, 64 << 20) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    sleep(60);
    return 0;
}

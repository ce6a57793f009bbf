/* Regions and markers with names that a report, a terminal or a file format could stumble over. */
#include <shmem.h>
#include <shmemx.h>
#include <stdio.h>
#include <string.h>

static long word;

int main(void) {
    char longest[301];
    memset(longest, 'x', 300);
    longest[300] = 0;
    const char *names[] = {"with \"quotes\" and 'single'", "line\nbreak\ttab\rreturn", "<script>alert(1)</script>&amp;",
                           "na\xc3\xafve \xe6\x9d\xb1\xe4\xba\xac", "a,b;c|d", "\x1b[31mred\x07", "\xff\xfe", longest,
                           "%s%n", "back\\slash", "=1+1", "]]> --> */", "__proto__"};
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, names[i]);
        for (int k = 0; k < 7; k++) shmem_long_p(&word, 1, next);
        shmem_pcontrol(SHMEMX_PCONTROL_MARKER, names[i], 1.5);
        shmem_barrier_all();
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, names[i]);
    }
    /* More than there is room for. */
    for (int i = 0; i < 500; i++) {
        char name[20];
        snprintf(name, sizeof name, "deep %d", i);
        shmem_pcontrol(SHMEMX_PCONTROL_REGION_BEGIN, name);
    }
    shmem_long_p(&word, 1, next);
    shmem_pcontrol(SHMEMX_PCONTROL_REGION_END, "never begun");
    shmem_finalize();
    return 0;
}

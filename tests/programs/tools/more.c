/* A call with further arguments, and a tool that wants them (-DTOOL). */
#include <pshmem.h>
#include <stdarg.h>
#include <stdio.h>

#ifdef TOOL
void shmem_pcontrol(int level, ...) {
    va_list list;
    va_start(list, level);
    int number = va_arg(list, int);
    double real = va_arg(list, double);
    va_end(list);
    printf("tool: level %d, %d, %g\n", level, number, real);
    pshmem_pcontrol(level, number, real);
}
#else
int main(void) {
    shmem_init();
    for (int k = 0; k < 3; k++) shmem_pcontrol(5 + k, 42 + k, 2.5 + k);
    shmem_finalize();
    return 0;
}
#endif

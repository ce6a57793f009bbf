/* 9.1.6: one PE finds that there is nothing to do and ends the job; the others wait for it in vain.
 * status: 3
 */
#include <shmem.h>
#include "must.h"

int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0) {
        FILE *input = fopen("/nowhere/at-all", "r");
        if (input == NULL) shmem_global_exit(3);
        fclose(input);
    }
    static long never;
    shmem_wait_until(&never, SHMEM_CMP_NE, 0l);
    shmem_finalize();
    return 0;
}

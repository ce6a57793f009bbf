/* Many short calls. */
#include <shmem.h>

static long word;

int main(void)
{
    shmem_init();
    for (int k = 0; k < 200000; k++)
        shmem_long_p(&word, k, 0);
    shmem_finalize();
    return 0;
}

/* Example 24 of the specification: inc.
 * pes: 2 4
 * cflags: -std=gnu11 -w
 * expect: 1: dst = 75
 */
#include <shmem.h>
#include <stdio.h>
int main(void) {
   static int dst = 74;
   shmem_init();
   int mype = shmem_my_pe();
   if (mype == 0)
      shmem_atomic_inc(&dst, 1);
   shmem_barrier_all();
   printf("%d: dst = %d\n", mype, dst);
   shmem_finalize();
   return 0;
}

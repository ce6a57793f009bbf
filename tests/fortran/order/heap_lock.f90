! A lock may be the only INTEGER of a block of the heap.
! pes: 1 2 3 8
program heap_lock
  implicit none
  include 'shmem.fh'
  integer :: error, old
  integer*4 :: lock(1), total(1)
  pointer (at_lock, lock)
  pointer (at_total, total)
  integer, external :: shmem_my_pe, shmem_n_pes, shmem_test_lock

  call shmem_init()
  call shpalloc(at_lock, 1, error, 1)
  call shpalloc(at_total, 1, error, 1)
  lock(1) = 0
  total(1) = 0
  call shmem_barrier_all()
  call shmem_set_lock(lock)
  call shmem_integer_get(old, total, 1, 0)
  call shmem_integer_put(total, old + 1, 1, 0)
  call shmem_quiet()
  call shmem_clear_lock(lock)
  do while (shmem_test_lock(lock) /= 0)
  end do
  call shmem_clear_lock(lock)
  call shmem_barrier_all()
  if (shmem_my_pe() == 0 .and. total(1) /= shmem_n_pes()) stop 2
  call shmem_finalize()
end program

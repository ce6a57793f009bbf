! The module shmem: functions without declarations, data of any type and rank.
! pes: 1 2 3
program explicit
  use shmem
  implicit none
  integer, save :: scalar, table(3, 4), sync(shmem_reduce_sync_size) = shmem_sync_value
  real*8, save :: number, work(shmem_reduce_min_wrkdata_size), total(1), mine(1)
  complex*16, save :: phase(2)
  character(len=5), save :: word
  integer*4, save :: lock = 0
  integer*8, save :: wide = 0
  integer, save :: others(shmem_barrier_sync_size) = shmem_sync_value
  integer :: me, npes, right, left, major, minor, heap(10), err
  pointer (p, heap)
  character(len=20) :: name

  call shmem_init()
  me = shmem_my_pe()
  npes = shmem_n_pes()
  right = modulo(me + 1, npes)
  left = modulo(me - 1, npes)
  if (me /= my_pe() .or. npes /= num_pes()) stop 2
  call shmem_info_get_version(major, minor)
  call shmem_info_get_name(name)
  if (major /= 1 .or. name /= shmem_vendor_string) stop 3
  if (.not. shmem_pe_accessible(right) .or. .not. shmem_addr_accessible(number, right)) stop 4

  call shmem_integer_put(scalar, me, 1, right)
  call shmem_integer_put(table(:, 2), [me, me + 1, me + 2], 3, right)
  call shmem_real8_put(number, me * 2d0, 1, right)
  call shmem_put128(phase, cmplx([me, -me], kind=8), 2, right)
  call shmem_character_put(word, 'ab' // achar(me + 65) // 'cd', 5, right)
  call shmem_barrier_all()
  if (scalar /= left .or. any(table(:, 2) /= [left, left + 1, left + 2]) .or. any(table(:, 3) /= 0)) stop 5
  if (number /= left * 2d0 .or. any(phase /= cmplx([left, -left], kind=8)) .or. word(3:3) /= achar(left + 65)) stop 6
  mine = me + 1
  call shmem_real8_sum_to_all(total, mine, 1, 0, 0, npes, work, sync)
  if (total(1) /= npes * (npes + 1) / 2) stop 7
  call shmem_set_lock(lock)
  if (shmem_test_lock(lock) /= 1) stop 8
  call shmem_clear_lock(lock)
  if (shmem_int8_fadd(wide, 1_8, 0) >= npes) stop 9
  call shmem_barrier(0, 0, npes, others)
  if (shmem_int8_fetch(wide, 0) /= npes) stop 10
  call shpalloc(p, 10, err, 1)
  heap = me
  call shmem_barrier_all()
  if (shmem_ptr(heap, right) == 0 .and. npes == 1) stop 11
  call shpdeallc(p, err, 1)
  call shmem_finalize()
end program

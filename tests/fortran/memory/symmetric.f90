! Common blocks, SAVE variables, variables of modules and of the main program, initialised or not, are symmetric.
! pes: 1 2 3 8
module things
  implicit none
  integer, save :: started = 5
  real*8, save :: later(7)
  character(len=3), save :: word = 'abc'
end module

block data first
  integer :: counts(4), guard
  common /table/ counts, guard
  data counts /10, 20, 30, 40/, guard /-1/
end block data

subroutine local(me, right, left)
  implicit none
  integer, intent(in) :: me, right, left
  integer, save :: kept = 3
  integer, save :: calls
  if (kept /= 3) stop 20
  call shmem_integer_put(calls, me + 50, 1, right)
  call shmem_barrier_all
  if (calls /= left + 50) stop 21
  call shmem_integer_put(kept, me + 60, 1, right)
  call shmem_barrier_all
  if (kept /= left + 60) stop 22
end subroutine

program symmetric
  use things
  implicit none
  include 'shmem.fh'
  integer :: shmem_my_pe, shmem_n_pes
  integer :: counts(4), guard
  common /table/ counts, guard
  real*8 :: blank(5)
  common blank
  integer, parameter :: large = 300000
  integer :: big(large)
  integer :: me, npes, right, left, i

  call shmem_init
  me = shmem_my_pe()
  npes = shmem_n_pes()
  right = mod(me + 1, npes)
  left = mod(me + npes - 1, npes)
  if (any(counts /= [10, 20, 30, 40]) .or. started /= 5 .or. word /= 'abc') stop 2
  if (any(later /= 0) .or. any(blank /= 0)) stop 3
  call shmem_barrier_all
  do i = 1, 4
    call shmem_integer_put(counts(i), me * 10 + i, 1, right)
  end do
  call shmem_integer_put(started, me, 1, right)
  call shmem_real8_put(later(2), real(me, 8), 1, right)
  call shmem_double_put(blank(5), me + 0.5d0, 1, right)
  call shmem_character_put(word(2:2), achar(iachar('A') + me), 1, right)
  call shmem_integer_put(big(large), me + 7, 1, right)
  call shmem_barrier_all
  if (any(counts /= [(left * 10 + i, i = 1, 4)]) .or. guard /= -1) stop 4
  if (started /= left .or. later(2) /= left .or. later(1) /= 0 .or. later(3) /= 0) stop 5
  if (blank(5) /= left + 0.5d0 .or. blank(4) /= 0 .or. big(large) /= left + 7) stop 6
  if (word /= 'a' // achar(iachar('A') + left) // 'c') stop 7
  call local(me, right, left)
  call shmem_finalize
end program

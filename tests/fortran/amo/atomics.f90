! Atomics of four and eight bytes, with neighbours in the same block that must stay.
! pes: 1 2 3 8
program atomics
  implicit none
  include 'shmem.fh'
  integer :: shmem_my_pe, shmem_n_pes
  integer*4 :: shmem_int4_cswap, shmem_int4_fadd, shmem_int4_fetch, shmem_int4_finc, shmem_int4_swap, shmem_swap
  integer*8 :: shmem_int8_cswap, shmem_int8_fadd, shmem_int8_fetch, shmem_int8_finc, shmem_int8_swap
  real*4 :: shmem_real4_fetch, shmem_real4_swap
  real*8 :: shmem_real8_fetch, shmem_real8_swap
  integer*4 :: before4, i4, after4
  integer*8 :: before8, i8, after8
  real*4 :: beforer4, r4, afterr4
  real*8 :: beforer8, r8, afterr8
  common /small/ before4, i4, after4, beforer4, r4, afterr4
  common /large/ before8, i8, after8, beforer8, r8, afterr8
  integer, save :: seen(0:63)
  integer :: me, npes, k, old, last

  call shmem_init
  me = shmem_my_pe()
  npes = shmem_n_pes()
  last = npes - 1
  call reset

  ! All add to the last PE.
  do k = 1, 10
    call shmem_int4_add(i4, 3, last)
    call shmem_int4_inc(i4, last)
    call shmem_int8_add(i8, 3_8 * 2_8**40, last)
    call shmem_int8_inc(i8, last)
  end do
  call shmem_barrier_all
  if (shmem_int4_fetch(i4, last) /= 40 * npes) stop 2
  if (shmem_int8_fetch(i8, last) /= 10 * npes * (3_8 * 2_8**40 + 1)) stop 3
  call guards
  call reset

  ! Each draws numbers that no other draws.
  do k = 1, 4
    old = shmem_int4_finc(i4, 0)
    if (shmem_int4_finc(seen(old), 0) /= 0) stop 4
  end do
  call shmem_barrier_all
  if (me == 0 .and. (i4 /= 4 * npes .or. any(seen(0:4 * npes - 1) /= 1))) stop 5
  if (shmem_int4_fadd(i4, 0, 0) /= 4 * npes) stop 6
  do k = 1, 4
    if (shmem_int8_fadd(i8, 5_8, 0) < 0) stop 7
    if (shmem_int8_finc(i8, 0) < 0) stop 8
  end do
  call shmem_barrier_all
  if (me == 0 .and. i8 /= 24 * npes) stop 9
  call guards
  call reset

  ! One wins.
  if (shmem_int4_cswap(i4, 0, me + 1, 0) == 0) then
    if (shmem_int8_cswap(i8, 0_8, int(me + 1, 8), 0) /= 0) stop 10
  end if
  call shmem_barrier_all
  if (shmem_int4_fetch(i4, 0) /= shmem_int8_fetch(i8, 0) .or. shmem_int4_fetch(i4, 0) == 0) stop 11
  call shmem_barrier_all

  ! Values that travel to the right.
  call shmem_int4_set(i4, me, mod(me + 1, npes))
  call shmem_int8_set(i8, int(me, 8), mod(me + 1, npes))
  call shmem_real4_set(r4, me * 0.5, mod(me + 1, npes))
  call shmem_real8_set(r8, me * 0.25d0, mod(me + 1, npes))
  call shmem_barrier_all
  k = mod(me + npes - 1, npes)
  if (i4 /= k .or. i8 /= k .or. r4 /= k * 0.5 .or. r8 /= k * 0.25d0) stop 12
  if (shmem_real4_fetch(r4, me) /= k * 0.5 .or. shmem_real8_fetch(r8, me) /= k * 0.25d0) stop 13
  if (shmem_int4_swap(i4, -1, me) /= k .or. shmem_int8_swap(i8, -1_8, me) /= k) stop 14
  if (shmem_real4_swap(r4, -1.5, me) /= k * 0.5 .or. shmem_real8_swap(r8, -1.5d0, me) /= k * 0.25d0) stop 15
  if (shmem_swap(i4, 77, me) /= -1) stop 16
  if (i4 /= 77 .or. i8 /= -1 .or. r4 /= -1.5 .or. r8 /= -1.5d0) stop 17
  call guards
  call shmem_finalize

contains

  subroutine reset
    call shmem_barrier_all
    before4 = 11; after4 = 12; beforer4 = 13; afterr4 = 14
    before8 = 21; after8 = 22; beforer8 = 23; afterr8 = 24
    i4 = 0; i8 = 0; r4 = 0; r8 = 0
    call shmem_barrier_all
  end subroutine

  subroutine guards
    if (before4 /= 11 .or. after4 /= 12 .or. beforer4 /= 13 .or. afterr4 /= 14) stop 30
    if (before8 /= 21 .or. after8 /= 22 .or. beforer8 /= 23 .or. afterr8 /= 24) stop 31
  end subroutine
end program

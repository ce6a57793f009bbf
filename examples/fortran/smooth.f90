! A rod that is warm at one end, divided among the PEs: each smooths its part and gives the values at its ends to its
! neighbours, into ghost cells in the symmetric heap. The variables of the main program and of modules are symmetric,
! too.
program smooth
  use shmem_c
  implicit none
  integer(c_size_t), parameter :: cells = 16
  integer, parameter :: steps = 400
  real(c_double), save :: part(1), total(1)
  integer(c_long), save :: done = 0
  real(c_double), pointer :: rod(:), next(:)
  type(c_ptr) :: memory
  integer(c_int) :: me, npes, step

  call shmem_init()
  me = shmem_my_pe()
  npes = shmem_n_pes()
  memory = shmem_malloc((cells + 2) * 8)
  if (.not. c_associated(memory)) stop 2
  ! Cells 1 and cells + 2 belong to the neighbours.
  call c_f_pointer(memory, rod, [cells + 2])
  allocate (next(cells + 2))
  rod = 0
  if (me == 0) rod(1) = 1
  call shmem_barrier_all()
  do step = 1, steps
    if (me > 0) call shmem_double_put(rod(cells + 2:), rod(2:), 1_c_size_t, me - 1)
    if (me < npes - 1) call shmem_double_put(rod(1:), rod(cells + 1:), 1_c_size_t, me + 1)
    call shmem_barrier_all()
    next(2:cells + 1) = 0.5 * rod(2:cells + 1) + 0.25 * (rod(1:cells) + rod(3:cells + 2))
    call shmem_barrier_all()
    rod(2:cells + 1) = next(2:cells + 1)
  end do
  part(1) = sum(rod(2:cells + 1))
  if (shmem_double_sum_reduce(shmem_team_world, total, part, 1_c_size_t) /= 0) stop 3
  call shmem_long_atomic_add(done, 1_c_long, 0)
  call shmem_barrier_all()
  if (me == 0) then
    if (done /= npes) stop 4
    print '(a, i0, a, f8.4)', 'heat in the rod on ', npes, ' PEs: ', total(1)
  end if
  call shmem_free(memory)
  call shmem_finalize()
end program

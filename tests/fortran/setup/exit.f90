! The job ends with the status that one PE gives.
! pes: 1 3
! status: 7
program leaves
  implicit none
  include 'shmem.fh'
  integer :: shmem_my_pe, shmem_n_pes
  integer :: status = 7
  call shmem_init()
  if (shmem_my_pe() == shmem_n_pes() - 1) call shmem_global_exit(status)
  call shmem_barrier_all()
  stop 3
end program

! A Fortran 2003 program reaches the C functions through iso_c_binding; its saved module variables are symmetric.
module shmem_c
  use iso_c_binding
  implicit none
  interface
    subroutine shmem_init() bind(c, name="shmem_init")
    end subroutine
    subroutine shmem_finalize() bind(c, name="shmem_finalize")
    end subroutine
    function shmem_my_pe() bind(c, name="shmem_my_pe") result(pe)
      import c_int
      integer(c_int) :: pe
    end function
    function shmem_n_pes() bind(c, name="shmem_n_pes") result(pes)
      import c_int
      integer(c_int) :: pes
    end function
    subroutine shmem_barrier_all() bind(c, name="shmem_barrier_all")
    end subroutine
    subroutine shmem_double_put(dest, source, nelems, pe) bind(c, name="shmem_double_put")
      import c_double, c_size_t, c_int
      real(c_double) :: dest(*)
      real(c_double), intent(in) :: source(*)
      integer(c_size_t), value :: nelems
      integer(c_int), value :: pe
    end subroutine
    function shmem_malloc(bytes) bind(c, name="shmem_malloc") result(block)
      import c_size_t, c_ptr
      integer(c_size_t), value :: bytes
      type(c_ptr) :: block
    end function
  end interface
  real(c_double), save, target :: fixed(5) = -1
end module

program ring
  use shmem_c
  implicit none
  integer(c_int) :: me, npes, next, before
  real(c_double) :: values(5)
  real(c_double), pointer :: heap(:)
  call shmem_init()
  me = shmem_my_pe()
  npes = shmem_n_pes()
  next = mod(me + 1, npes)
  before = mod(me + npes - 1, npes)
  call c_f_pointer(shmem_malloc(40_c_size_t), heap, [5])
  values = me + 0.5d0
  heap = 0
  call shmem_barrier_all()
  call shmem_double_put(fixed, values, 5_c_size_t, next)
  call shmem_double_put(heap, values, 5_c_size_t, next)
  call shmem_barrier_all()
  if (any(fixed /= before + 0.5d0) .or. any(heap /= before + 0.5d0)) stop 1
  if (me == 0) print '(a)', 'Fortran works'
  call shmem_finalize()
end program

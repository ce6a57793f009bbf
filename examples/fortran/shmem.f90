! The C functions of OpenSHMEM that the example uses, for Fortran 2003: each interface is a prototype of shmem.h.
! Handles are addresses (type(c_ptr)); arguments that C takes by value say so.
module shmem
  use, intrinsic :: iso_c_binding
  implicit none

  interface
    subroutine shmem_init() bind(c)
    end subroutine

    subroutine shmem_finalize() bind(c)
    end subroutine

    integer(c_int) function shmem_my_pe() bind(c)
      import c_int
    end function

    integer(c_int) function shmem_n_pes() bind(c)
      import c_int
    end function

    subroutine shmem_barrier_all() bind(c)
    end subroutine

    type(c_ptr) function shmem_malloc(bytes) bind(c)
      import c_ptr, c_size_t
      integer(c_size_t), value :: bytes
    end function

    subroutine shmem_free(object) bind(c)
      import c_ptr
      type(c_ptr), value :: object
    end subroutine

    subroutine shmem_double_put(dest, source, nelems, pe) bind(c)
      import c_double, c_size_t, c_int
      real(c_double) :: dest(*)
      real(c_double), intent(in) :: source(*)
      integer(c_size_t), value :: nelems
      integer(c_int), value :: pe
    end subroutine

    subroutine shmem_long_atomic_add(dest, amount, pe) bind(c)
      import c_long, c_int
      integer(c_long) :: dest
      integer(c_long), value :: amount
      integer(c_int), value :: pe
    end subroutine

    integer(c_int) function shmem_double_sum_reduce(team, dest, source, nreduce) bind(c)
      import c_ptr, c_double, c_size_t, c_int
      type(c_ptr), value :: team
      real(c_double) :: dest(*)
      real(c_double), intent(in) :: source(*)
      integer(c_size_t), value :: nreduce
    end function
  end interface

contains

  ! SHMEM_TEAM_WORLD is a macro of shmem.h: the handle with the value 1.
  type(c_ptr) function team_world()
    team_world = transfer(1_c_intptr_t, c_null_ptr)
  end function
end module

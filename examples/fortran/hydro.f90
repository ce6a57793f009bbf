! A blast in a closed box: the Euler equations of gas dynamics in two dimensions, as hydrodynamics mini-apps solve
! them. Each PE has some rows of the grid and gives the rows at its edges to its neighbours; all agree on the longest
! step that is stable. Mass and energy must stay what they were.
module gas
  implicit none
  integer, parameter :: r8 = selected_real_kind(12)
  real(r8), parameter :: gamma = 1.4_r8, courant = 0.4_r8
contains

  pure real(r8) function pressure(u)
    real(r8), intent(in) :: u(4)
    pressure = (gamma - 1) * (u(4) - 0.5_r8 * (u(2)**2 + u(3)**2) / u(1))
  end function

  ! The fastest signal in direction 1 or 2.
  pure real(r8) function fastest(u, direction)
    real(r8), intent(in) :: u(4)
    integer, intent(in) :: direction
    fastest = abs(u(1 + direction) / u(1)) + sqrt(gamma * pressure(u) / u(1))
  end function

  ! What flows through the face between two cells (Rusanov).
  pure function flux(left, right, direction) result(f)
    real(r8), intent(in) :: left(4), right(4)
    integer, intent(in) :: direction
    real(r8) :: f(4)
    f = 0.5_r8 * (through(left, direction) + through(right, direction)) &
      - 0.5_r8 * max(fastest(left, direction), fastest(right, direction)) * (right - left)
  end function

  pure function through(u, direction) result(f)
    real(r8), intent(in) :: u(4)
    integer, intent(in) :: direction
    real(r8) :: f(4), speed
    speed = u(1 + direction) / u(1)
    f = speed * u
    f(1 + direction) = f(1 + direction) + pressure(u)
    f(4) = f(4) + speed * pressure(u)
  end function

  ! A wall gives back what comes.
  pure function mirrored(u, direction) result(m)
    real(r8), intent(in) :: u(4)
    integer, intent(in) :: direction
    real(r8) :: m(4)
    m = u
    m(1 + direction) = -m(1 + direction)
  end function
end module

! The run itself. `nx` columns and `ny` rows of cells.
subroutine solve(nx, ny, steps)
  use shmem
  use gas
  implicit none
  integer, intent(in) :: nx, ny, steps
  ! In the symmetric heap: the cells of this PE, with a row of each neighbour below and above.
  real(r8) :: u(4, 0:nx + 1, 0:*)
  pointer (cells, u)
  real(r8), allocatable :: new(:, :, :)
  ! Symmetric as they are saved: flags of the neighbours, and what reductions take and give.
  integer*4, save :: arrived(2) = 0
  real(r8), save :: mine(2), all(2), work(shmem_reduce_min_wrkdata_size)
  integer, save :: sync_a(shmem_reduce_sync_size) = shmem_sync_value, sync_b(shmem_reduce_sync_size) = shmem_sync_value
  integer :: me, npes, first, rows, most, step, code, i, j
  real(r8) :: time, dt, dx, before(2), x, y

  me = shmem_my_pe()
  npes = shmem_n_pes()
  dx = 1.0_r8 / nx
  rows = ny / npes + merge(1, 0, me < mod(ny, npes))
  first = me * (ny / npes) + min(me, mod(ny, npes))
  most = (ny + npes - 1) / npes
  if (ny < npes) call give_up('more PEs than rows')
  ! All PEs ask for as much; the length is in words of four bytes.
  call shpalloc(cells, 2 * 4 * (nx + 2) * (most + 2), code, 1)
  allocate (new(4, nx, rows))

  do j = 1, rows
    do i = 1, nx
      x = (i - 0.5_r8) * dx - 0.5_r8
      y = (first + j - 0.5_r8) * dx - 0.5_r8
      u(:, i, j) = [1.0_r8, 0.0_r8, 0.0_r8, merge(10.0_r8, 0.25_r8, x**2 + y**2 < 0.01_r8)]
    end do
  end do
  call totals(before)

  time = 0
  do step = 1, steps
    call exchange
    dt = stable_step()
    call advance
    time = time + dt
  end do

  call totals(all)
  if (any(abs(all - before) > 1e-10_r8 * before)) call give_up('mass or energy got lost')
  if (me == 0) then
    print '(a, i0, a, i0, a, i0, a, f8.5)', 'hydro: ', nx, ' x ', ny, ' cells, ', steps, ' steps to t = ', time
    print '(a, 2f12.6)', 'hydro: mass and energy', all * dx * dx
    print '(a)', 'hydro: OK'
  end if
  call shpdeallc(cells, code, 1)

contains

  ! The row at each edge to the neighbour, then a flag: a fence keeps them in this order.
  subroutine exchange
    if (me > 0) then
      call shmem_real8_put(u(1, 0, rows_of(me - 1) + 1), u(1, 0, 1), 4 * (nx + 2), me - 1)
      call shmem_fence()
      call shmem_int4_set(arrived(2), step, me - 1)
    end if
    if (me < npes - 1) then
      call shmem_real8_put(u(1, 0, 0), u(1, 0, rows), 4 * (nx + 2), me + 1)
      call shmem_fence()
      call shmem_int4_set(arrived(1), step, me + 1)
    end if
    if (me > 0) call shmem_int4_wait_until(arrived(1), shmem_cmp_ge, step)
    if (me < npes - 1) call shmem_int4_wait_until(arrived(2), shmem_cmp_ge, step)
    ! Walls around the box.
    do j = 1, rows
      u(:, 0, j) = mirrored(u(:, 1, j), 1)
      u(:, nx + 1, j) = mirrored(u(:, nx, j), 1)
    end do
    do i = 1, nx
      if (me == 0) u(:, i, 0) = mirrored(u(:, i, 1), 2)
      if (me == npes - 1) u(:, i, rows + 1) = mirrored(u(:, i, rows), 2)
    end do
  end subroutine

  pure integer function rows_of(pe)
    integer, intent(in) :: pe
    rows_of = ny / npes + merge(1, 0, pe < mod(ny, npes))
  end function

  real(r8) function stable_step()
    mine(1) = 0
    do j = 1, rows
      do i = 1, nx
        mine(1) = max(mine(1), fastest(u(:, i, j), 1) + fastest(u(:, i, j), 2))
      end do
    end do
    call shmem_real8_max_to_all(all, mine, 1, 0, 0, npes, work, sync_a)
    stable_step = courant * dx / all(1)
  end function

  subroutine advance
    do j = 1, rows
      do i = 1, nx
        new(:, i, j) = u(:, i, j) - dt / dx * ( &
          flux(u(:, i, j), u(:, i + 1, j), 1) - flux(u(:, i - 1, j), u(:, i, j), 1) &
          + flux(u(:, i, j), u(:, i, j + 1), 2) - flux(u(:, i, j - 1), u(:, i, j), 2))
      end do
    end do
    u(:, 1:nx, 1:rows) = new
    ! Only now may neighbours replace the rows that were read here.
    call shmem_barrier_all()
  end subroutine

  ! Mass and energy of all PEs.
  subroutine totals(sums)
    real(r8), intent(out) :: sums(2)
    call shmem_barrier_all()
    mine = [sum(u(1, 1:nx, 1:rows)), sum(u(4, 1:nx, 1:rows))]
    call shmem_real8_sum_to_all(all, mine, 2, 0, 0, npes, work, sync_b)
    sums = all
  end subroutine

  subroutine give_up(why)
    character(len=*), intent(in) :: why
    print '(2a)', 'hydro: FAILED: ', why
    call shmem_global_exit(1)
  end subroutine
end subroutine

program hydro
  use shmem
  implicit none
  integer :: values(3) = [96, 96, 200]
  integer :: k, code
  character(len=20) :: text

  call shmem_init()
  do k = 1, min(3, command_argument_count())
    call get_command_argument(k, text)
    read (text, *, iostat=code) values(k)
    if (code /= 0 .or. values(k) < 1) then
      print '(2a)', 'hydro: FAILED: arguments are columns, rows and steps, not ', trim(text)
      call shmem_global_exit(1)
    end if
  end do
  call solve(values(1), values(2), values(3))
  call shmem_finalize()
end program

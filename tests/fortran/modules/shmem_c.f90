! The module shmem_c: the C routines of 1.6 with their types, teams and contexts among them.
! pes: 1 2 4
program through_c
  use shmem_c
  implicit none
  real(c_double), save :: one(1), all(1), part(3)
  integer(c_long), save :: counter = 0
  integer(c_int64_t), save :: signal = 0
  integer(c_int), save :: flag = 0, flags(3) = 0
  real(c_double), pointer :: rod(:)
  integer(c_int) :: me, npes, provided, major, minor
  type(shmem_team_t) :: half
  type(shmem_ctx_t) :: ctx
  type(shmem_team_config_t) :: config
  character(kind=c_char) :: name(shmem_max_name_len)
  integer(c_int) :: targets(2), left_out(3)
  integer :: i

  if (shmem_init_thread(shmem_thread_multiple, provided) /= 0) stop 2
  me = shmem_my_pe()
  npes = shmem_n_pes()
  call shmem_info_get_version(major, minor)
  call shmem_info_get_name(name)
  if (major /= shmem_major_version .or. minor /= shmem_minor_version) stop 3
  if (any(name(1:len(shmem_vendor_string)) /= [(shmem_vendor_string(i:i), i = 1, len(shmem_vendor_string))])) stop 4

  ! Every second PE.
  if (shmem_team_split_strided(shmem_team_world, 0_c_int, 2_c_int, (npes + 1) / 2, config_mask=0_c_long, &
      new_team=half) /= 0) stop 5
  if ((half == shmem_team_invalid) .neqv. (mod(me, 2) == 1)) stop 6
  if (half /= shmem_team_invalid) then
    if (shmem_team_n_pes(half) /= (npes + 1) / 2 .or. shmem_team_my_pe(half) /= me / 2) stop 7
    one = me
    if (shmem_double_sum_reduce(half, all, one, 1_c_size_t) /= 0) stop 8
    if (all(1) /= ((npes + 1) / 2) * ((npes + 1) / 2 - 1)) stop 9
    if (shmem_team_get_config(half, shmem_team_num_contexts, config) /= 0) stop 10
    call shmem_team_destroy(half)
  end if

  call c_f_pointer(shmem_malloc(80_c_size_t), rod, [10])
  rod = me
  call shmem_sync_all()
  if (shmem_ctx_create(shmem_ctx_serialized, ctx) /= 0) stop 11
  part = [1, 2, 3] * me
  call shmem_ctx_double_put(ctx, rod, part, 3_c_size_t, mod(me + 1, npes))
  call shmem_ctx_quiet(ctx)
  call shmem_ctx_destroy(ctx)
  call shmem_putmem_signal(rod(4), part(2), 8_c_size_t, signal, 1_c_int64_t, shmem_signal_op_add, mod(me + 1, npes))
  if (shmem_signal_wait_until(signal, shmem_cmp_eq, 1_c_int64_t) /= 1) stop 12
  call shmem_barrier_all()
  i = modulo(me - 1, npes)
  if (any(rod(1:5) /= [i, 2 * i, 3 * i, 2 * i, me])) stop 13
  call shmem_free(c_loc(rod))

  call shmem_long_atomic_add(counter, 2_c_long, 0_c_int)
  call shmem_int_p(flag, 1_c_int, mod(me + 1, npes))
  call shmem_int_wait_until(flag, shmem_cmp_ne, 0_c_int)
  call shmem_barrier_all()
  if (shmem_long_g(counter, 0_c_int) /= 2 * npes) stop 14

  ! Several PEs in one call; waits on several variables, with and without a status.
  targets = [mod(me + 1, npes), me]
  do i = 1, 2
    call shmem_int_p(flags(i), 1_c_int, targets(1))
  end do
  call shmem_pe_quiet(targets, 2_c_size_t)
  call shmem_ctx_pe_quiet(shmem_ctx_default, targets, 2_c_size_t)
  left_out = [0, 0, 1]
  call shmem_int_wait_until_all(flags, 3_c_size_t, left_out, shmem_cmp_eq, 1_c_int)
  call shmem_int_wait_until_all(flags, 2_c_size_t, cmp=shmem_cmp_eq, cmp_value=1_c_int)
  if (shmem_int_test_all(flags, 3_c_size_t, cmp=shmem_cmp_eq, cmp_value=1_c_int) /= 0) stop 15
  call shmem_pcontrol(0_c_int)
  call shmem_pcontrol(1_c_int)
  call shmem_finalize()
end program

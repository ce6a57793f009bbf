//! The C functions that are not of a type, as `shmem.h` declares them.
#![allow(unsafe_code, missing_docs)]

use std::ffi::{c_int, c_long, c_void};

/// `shmem_team_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct TeamHandle(pub usize);

/// `shmem_ctx_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct CtxHandle(pub usize);

pub const TEAM_INVALID: TeamHandle = TeamHandle(0);
pub const TEAM_WORLD: TeamHandle = TeamHandle(1);
pub const TEAM_SHARED: TeamHandle = TeamHandle(2);
pub const CTX_DEFAULT: CtxHandle = CtxHandle(1);
pub const THREAD_SINGLE: c_int = 0;
pub const THREAD_MULTIPLE: c_int = 3;
pub const REGION_BEGIN: c_int = 4101;
pub const REGION_END: c_int = 4102;

unsafe extern "C" {
    pub fn shmem_init_thread(requested: c_int, provided: *mut c_int) -> c_int;
    pub fn shmem_query_initialized(initialized: *mut c_int);
    pub fn shmem_finalize();
    pub fn shmem_global_exit(status: c_int) -> !;
    pub fn shmem_barrier_all();
    pub fn shmem_sync_all();
    pub fn shmem_uint64_max_reduce(team: TeamHandle, dest: *mut u64, source: *const u64, count: usize) -> c_int;
    pub fn shmem_calloc(count: usize, size: usize) -> *mut c_void;
    pub fn shmem_free(object: *mut c_void);
    pub fn shmem_team_ptr(team: TeamHandle, dest: *const c_void, pe: c_int) -> *mut c_void;
    pub fn shmem_pcontrol(level: c_int, ...);

    pub fn shmem_team_my_pe(team: TeamHandle) -> c_int;
    pub fn shmem_team_n_pes(team: TeamHandle) -> c_int;
    pub fn shmem_team_translate_pe(from: TeamHandle, pe: c_int, to: TeamHandle) -> c_int;
    pub fn shmem_team_split_strided(
        parent: TeamHandle,
        start: c_int,
        stride: c_int,
        size: c_int,
        config: *const c_void,
        mask: c_long,
        new: *mut TeamHandle,
    ) -> c_int;
    pub fn shmem_team_split_2d(
        parent: TeamHandle,
        xrange: c_int,
        x_config: *const c_void,
        x_mask: c_long,
        x_team: *mut TeamHandle,
        y_config: *const c_void,
        y_mask: c_long,
        y_team: *mut TeamHandle,
    ) -> c_int;
    pub fn shmem_team_destroy(team: TeamHandle);
    pub fn shmem_team_sync(team: TeamHandle) -> c_int;

    pub fn shmem_team_create_ctx(team: TeamHandle, options: c_long, ctx: *mut CtxHandle) -> c_int;
    pub fn shmem_ctx_destroy(ctx: CtxHandle);
    pub fn shmem_ctx_quiet(ctx: CtxHandle);
    pub fn shmem_ctx_fence(ctx: CtxHandle);
    pub fn shmem_ctx_putmem(ctx: CtxHandle, dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    pub fn shmem_ctx_getmem(ctx: CtxHandle, dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    pub fn shmem_ctx_putmem_nbi(ctx: CtxHandle, dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    pub fn shmem_ctx_getmem_nbi(ctx: CtxHandle, dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    pub fn shmem_ctx_putmem_signal(
        ctx: CtxHandle,
        dest: *mut c_void,
        source: *const c_void,
        bytes: usize,
        signal: *mut u64,
        value: u64,
        op: c_int,
        pe: c_int,
    );
    pub fn shmem_ctx_putmem_signal_nbi(
        ctx: CtxHandle,
        dest: *mut c_void,
        source: *const c_void,
        bytes: usize,
        signal: *mut u64,
        value: u64,
        op: c_int,
        pe: c_int,
    );
    pub fn shmem_signal_fetch(signal: *const u64) -> u64;
    pub fn shmem_signal_wait_until(signal: *mut u64, cmp: c_int, value: u64) -> u64;
    pub fn shmem_ctx_signal_add(ctx: CtxHandle, signal: *mut u64, value: u64, pe: c_int);
    pub fn shmem_ctx_signal_set(ctx: CtxHandle, signal: *mut u64, value: u64, pe: c_int);

    pub fn shmem_broadcastmem(
        team: TeamHandle,
        dest: *mut c_void,
        source: *const c_void,
        bytes: usize,
        root: c_int,
    ) -> c_int;
    pub fn shmem_fcollectmem(team: TeamHandle, dest: *mut c_void, source: *const c_void, bytes: usize) -> c_int;
    pub fn shmem_collectmem(team: TeamHandle, dest: *mut c_void, source: *const c_void, bytes: usize) -> c_int;
    pub fn shmem_alltoallmem(team: TeamHandle, dest: *mut c_void, source: *const c_void, bytes: usize) -> c_int;

    pub fn shmem_set_lock(lock: *mut c_long);
    pub fn shmem_clear_lock(lock: *mut c_long);
    pub fn shmem_test_lock(lock: *mut c_long) -> c_int;
}

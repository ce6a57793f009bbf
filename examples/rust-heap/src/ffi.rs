//! The C functions, as `shmem.h` declares them.
#![allow(unsafe_code, missing_docs)]

use std::ffi::{c_int, c_void};

/// `SHMEM_TEAM_WORLD`.
pub const TEAM_WORLD: *mut c_void = std::ptr::without_provenance_mut(1);

unsafe extern "C" {
    pub fn shmem_init();
    pub fn shmem_finalize();
    pub fn shmem_global_exit(status: c_int) -> !;
    pub fn shmem_my_pe() -> c_int;
    pub fn shmem_n_pes() -> c_int;
    pub fn shmem_barrier_all();
    pub fn shmem_quiet();
    pub fn shmem_calloc(count: usize, size: usize) -> *mut c_void;
    pub fn shmem_free(object: *mut c_void);
    pub fn shmem_putmem(dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    pub fn shmem_getmem(dest: *mut c_void, source: *const c_void, bytes: usize, pe: c_int);
    pub fn shmem_uint64_atomic_fetch_add(dest: *mut u64, value: u64, pe: c_int) -> u64;
    pub fn shmem_uint64_atomic_fetch(source: *const u64, pe: c_int) -> u64;
    pub fn shmem_uint64_sum_reduce(team: *mut c_void, dest: *mut u64, source: *const u64, count: usize) -> c_int;
}

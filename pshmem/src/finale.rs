//! Calls after the last `shmem_finalize`.
//!
//! The program's are refused, as those before `shmem_init` are, until it initializes the library again. Those that
//! belong to the end of the process or of a thread are not: tools communicate from exit handlers, and destructors of
//! objects give back what these have. The end of the finalizing thread is what tells: for the main thread it begins
//! before exit handlers do. Whatever another thread calls may come from its destructors. A tool's calls of `pshmem_X`
//! do not come here.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::ptr;

use pellucid_core::base::{Cause, Fault};
use pellucid_core::runtime;
use pellucid_profile::arm;
use pellucid_profile::op::{self, OPS};

use crate::dispatcher;
use crate::thread::{self, CodeOwner, FinalizeState};

unsafe extern "C" {
    /// Of the C library, for destructors of thread-local objects; the last one registered runs first.
    fn __cxa_thread_atexit_impl(
        destructor: unsafe extern "C" fn(*mut c_void),
        object: *mut c_void,
        library: *const c_void,
    ) -> c_int;
}

/// The last finalize is complete, in this thread.
pub fn begin() {
    match thread::get().ended.replace(FinalizeState::Finalized) {
        FinalizeState::Not => {
            // SAFETY: the function lives as long as the library, which is named by an address in it.
            let refused = unsafe { __cxa_thread_atexit_impl(leave, ptr::null_mut(), (&raw const OPS).cast()) };
            if refused != 0 {
                thread::get().ended.set(FinalizeState::Leaving);
            }
        }
        FinalizeState::Finalized => {}
        FinalizeState::Leaving => thread::get().ended.set(FinalizeState::Leaving),
    }
    arm::set_closed(thread::get().ended.get() == FinalizeState::Finalized);
}

/// The library is initialized again.
pub fn end() {
    arm::set_closed(false);
}

unsafe extern "C" fn leave(_: *mut c_void) {
    thread::get().ended.set(FinalizeState::Leaving);
    arm::set_closed(false);
}

/// Ends the job where a call is the program's and comes too late.
pub fn check(op: u16) {
    if arm::is_closed()
        && thread::get().ended.get() == FinalizeState::Finalized
        && dispatcher::code_owner() == CodeOwner::Outside
        && op::needs_library(op)
    {
        runtime::fail(OPS[usize::from(op)].name(), Fault::from(Cause::Finalized));
    }
}

//! The job, errors, and what a client asks of its process.
#![allow(unsafe_code)]

use crate::fail::initialized;
use crate::start;
use crate::types::{Rank, code};
use pellucid_core::runtime;
use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

static VERBOSE: AtomicBool = AtomicBool::new(true);

/// An error that a client may live with: told on the console unless it wants to hear nothing.
pub fn error(routine: &str, code: c_int, why: &str) -> c_int {
    if VERBOSE.load(Ordering::Relaxed) {
        pellucid_core::say!(
            "pellucid: PE {}: {routine} returns {}: {why}",
            runtime::map().me,
            name_of(code).0.to_string_lossy()
        );
    }
    code
}

/// `gex_System_GetVerboseErrors`
#[unsafe(no_mangle)]
pub extern "C" fn gex_System_GetVerboseErrors() -> c_int {
    VERBOSE.load(Ordering::Relaxed).into()
}

/// `gex_System_SetVerboseErrors`
#[unsafe(no_mangle)]
pub extern "C" fn gex_System_SetVerboseErrors(enable: c_int) {
    VERBOSE.store(enable != 0, Ordering::Relaxed);
}

/// `gex_System_QueryJobRank`
#[unsafe(no_mangle)]
pub extern "C" fn gex_System_QueryJobRank() -> Rank {
    initialized("gex_System_QueryJobRank");
    runtime::map().me as Rank
}

/// `gex_System_QueryJobSize`
#[unsafe(no_mangle)]
pub extern "C" fn gex_System_QueryJobSize() -> Rank {
    initialized("gex_System_QueryJobSize");
    runtime::map().npes as Rank
}

/// `gex_System_QueryMaxThreads`
#[unsafe(no_mangle)]
pub extern "C" fn gex_System_QueryMaxThreads() -> u64 {
    if start::client().mode == start::Mode::Seq { 1 } else { MAX_THREADS }
}

/// Threads in calls at a time: `GASNETT_MAX_THREADS` of the header. What is kept for one has no table that could be
/// full: this is what clients may size theirs by.
const MAX_THREADS: u64 = 1024;

/// `gex_System_QueryHiddenAMConcurrencyLevel`: handlers run in the client's threads only.
#[unsafe(no_mangle)]
pub extern "C" fn gex_System_QueryHiddenAMConcurrencyLevel() -> c_int {
    0
}

/// `gasnet_getenv`: of the environment of the job, what the launcher has passed on to this PE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gasnet_getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: a string of C, says the caller.
    unsafe { libc::getenv(name) }
}

/// Name and description of an error.
fn name_of(code: c_int) -> (&'static CStr, &'static CStr) {
    match code {
        code::OK => (c"GASNET_OK", c"No error"),
        code::NOT_INIT => (c"GASNET_ERR_NOT_INIT", c"The library is not initialized"),
        code::BAD_ARG => (c"GASNET_ERR_BAD_ARG", c"An argument is not valid"),
        code::RESOURCE => (c"GASNET_ERR_RESOURCE", c"A resource is not to be had"),
        code::NOT_READY => (c"GASNET_ERR_NOT_READY", c"Not complete yet"),
        code::BARRIER_MISMATCH => (c"GASNET_ERR_BARRIER_MISMATCH", c"Barrier names or flags do not match"),
        _ => (c"no such error", c"no such error"),
    }
}

/// `gasnet_ErrorName`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_ErrorName(error: c_int) -> *const c_char {
    name_of(error).0.as_ptr()
}

/// `gasnet_ErrorDesc`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_ErrorDesc(error: c_int) -> *const c_char {
    name_of(error).1.as_ptr()
}

//! Extensions: the end of the job because a PE says so (docs/extensions.md).
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int};
use std::time::Duration;

use pellucid_core::base::Fault;
use pellucid_core::runtime;

use crate::fault_site;

/// As a program that has called `abort`.
const STATUS: c_int = 128 + libc::SIGABRT;
/// What the source line of the call may take: the job ends within 2 s.
const PATIENCE: Duration = Duration::from_millis(500);

/// Ends the job with status 134.
///
/// # Errors
/// None: it does not return.
pub fn abort() -> Result<(), Fault> {
    end("shmemx_abort", STATUS, None)
}

/// Ends the job with a status, for a reason. A status of 0, which would say that all went well, is 134.
///
/// # Errors
/// None: it does not return.
pub fn because(status: c_int, why: *const c_char) -> Result<(), Fault> {
    // SAFETY: not null; the caller vouches for a string.
    let why = (!why.is_null()).then(|| unsafe { CStr::from_ptr(why) }.to_string_lossy());
    let status = if status & 0xff == 0 { STATUS } else { status & 0xff };
    end("shmemx_abort_because", status, why.as_deref())
}

fn end(routine: &str, status: c_int, why: Option<&str>) -> ! {
    let mut text = format!("{routine} ends the job with status {status}");
    if let Some(why) = why {
        text.push_str(": ");
        text.push_str(&why.replace('\n', " "));
    }
    runtime::abort(status, &text, || fault_site::caller(PATIENCE))
}

//! The limit of open files.
#![allow(unsafe_code)]

use std::io;

/// Soft and hard limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// In force.
    pub soft: u64,
    /// What it can be raised to.
    pub hard: u64,
}

/// The limit of this process.
///
/// # Errors
/// What the system answered: a sandbox may refuse the question (`prlimit64`).
pub fn open_files() -> io::Result<Limit> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is writable.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) } {
        0 => Ok(Limit { soft: limit.rlim_cur, hard: limit.rlim_max }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Changes it. Async-signal-safe. A refusal shows later, when a descriptor cannot be had.
pub fn set_open_files(limit: Limit) {
    let limit = libc::rlimit { rlim_cur: limit.soft, rlim_max: limit.hard };
    // SAFETY: the limit is readable.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
}

//! What an option of `oshrun` has set is for the PEs of its job, which pass their environment on to all that they
//! start: for a job within theirs it would be a port that is taken, a trace, or a heap that nobody has asked for there.
#![allow(unsafe_code)]

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Begins the name of a variable that says of another one which value an option has given it.
pub const BY_OPTION: &str = "PELLUCID_OPTION_";

/// The variable that says so of `name`.
pub fn marked(name: &OsStr, value: &OsStr) -> (OsString, OsString) {
    let mut mark = OsString::from(BY_OPTION);
    mark.push(name);
    (mark, value.to_owned())
}

/// Takes what the options of a job further out have set out of the environment. What the program has set to another
/// value since stays.
///
/// # Safety
/// No other thread of this process uses the environment.
pub unsafe fn forget() {
    for (mark, value) in env::vars_os() {
        let Some(name) = mark.as_bytes().strip_prefix(BY_OPTION.as_bytes()).map(OsStr::from_bytes) else { continue };
        // SAFETY: so says the caller.
        unsafe {
            if env::var_os(name).is_some_and(|now| now == value) {
                env::remove_var(name);
            }
            env::remove_var(&mark);
        }
    }
}

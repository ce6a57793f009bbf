//! Answers about the library itself (9.1.5, 9.1.11, 9.1.12, 9.2.2). All may be asked before `shmem_init`.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int};

use pellucid_core::base::{Cause, Fault};
use pellucid_core::runtime;

use crate::generated::constants::{SHMEM_MAJOR_VERSION, SHMEM_MAX_NAME_LEN, SHMEM_MINOR_VERSION, SHMEM_VENDOR_STRING};

const _: () = assert!(SHMEM_VENDOR_STRING.count_bytes() < SHMEM_MAX_NAME_LEN as usize);

/// Writes through a pointer that the program gave.
///
/// # Errors
/// [`Cause::Null`] with the name of the argument.
pub(crate) fn answer<T>(arg: &'static str, at: *mut T, value: T) -> Result<(), Fault> {
    if at.is_null() {
        return Err(Fault::from(Cause::Null { arg, bytes: size_of::<i32>() }));
    }
    // SAFETY: the specification asks for a pointer to an object of this type; null, the one value that can be told
    // from outside, was ruled out.
    unsafe { at.write(value) };
    Ok(())
}

/// 9.1.5: 1 between the first initialization and the last finalization, else 0.
///
/// # Errors
/// [`Cause::Null`].
pub fn initialized(initialized: *mut c_int) -> Result<(), Fault> {
    answer("initialized", initialized, c_int::from(runtime::query_initialized()))
}

/// 9.2.2: the thread level in force.
///
/// # Errors
/// [`Cause::Null`].
pub fn thread(provided: *mut c_int) -> Result<(), Fault> {
    answer("provided", provided, runtime::query_thread())
}

/// Extension: seconds since some point in the past.
#[unsafe(no_mangle)]
pub extern "C" fn shmemx_wtime() -> f64 {
    pellucid_profile::clock::monotonic_ns() as f64 * 1e-9
}

/// 9.1.11: the version of the specification.
///
/// # Errors
/// [`Cause::Null`].
pub fn version(major: *mut c_int, minor: *mut c_int) -> Result<(), Fault> {
    answer("major", major, SHMEM_MAJOR_VERSION)?;
    answer("minor", minor, SHMEM_MINOR_VERSION)
}

/// 9.1.12: `SHMEM_VENDOR_STRING` with its terminating null, into a buffer of `SHMEM_MAX_NAME_LEN` bytes.
///
/// # Errors
/// [`Cause::Null`].
pub fn name(name: *mut c_char) -> Result<(), Fault> {
    let mut text = [0; SHMEM_MAX_NAME_LEN as usize];
    for (to, from) in text.iter_mut().zip(SHMEM_VENDOR_STRING.to_bytes()) {
        *to = *from as c_char;
    }
    answer("name", name.cast(), text)
}

//! Spares the first look at libfabric's providers a search that takes longer than all else together.
//!
//! The verbs provider of libfabric 1.17 reads `/proc/kallsyms`, line by line, to the end, twice, to know whether the
//! kernel shares memory of accelerators with RDMA devices: 0.1 s of a core in every process, whatever provider is asked
//! for, and no variable or hint prevents it. Where the kernel has no RDMA device at all the answer is of no use to anybody.
#![allow(unsafe_code)]

use crate::slots::Object;
use std::ffi::{CStr, c_char};
use std::path::Path;

/// `fopen`, but there is no list of the kernel's symbols.
unsafe extern "C" fn without(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    // SAFETY: a C string, as for fopen.
    if unsafe { CStr::from_ptr(path) } == c"/proc/kallsyms" {
        // SAFETY: this thread's own.
        unsafe { *libc::__errno_location() = libc::ENOENT };
        return std::ptr::null_mut();
    }
    // SAFETY: the caller's.
    unsafe { libc::fopen(path, mode) }
}

/// Whether the kernel has RDMA devices, or might have.
pub fn rdma() -> bool {
    ["/sys/class/infiniband", "/sys/class/infiniband_verbs"].iter().any(|class| Path::new(class).exists())
        || !Path::new("/sys/class").exists()
}

/// Runs `look` without that search, where it is of no use.
pub(crate) fn unread<R>(libfabric: &Object, look: impl FnOnce() -> R) -> R {
    if rdma() {
        return look();
    }
    let to = without as unsafe extern "C" fn(_, _) -> _ as usize;
    // SAFETY: both are fopen.
    let before = unsafe { libfabric.redirect(c"fopen", to) };
    let result = look();
    if let Some(before) = before {
        // SAFETY: what was there.
        unsafe { libfabric.redirect(c"fopen", before) };
    }
    result
}

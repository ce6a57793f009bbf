//! Named parts of a program, for its profile.
#![allow(unsafe_code)]

use std::ffi::CString;

use crate::ffi;

struct Region(CString);

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the level takes a name.
        unsafe { ffi::shmem_pcontrol(ffi::REGION_END, self.0.as_ptr()) };
    }
}

/// Runs `f`; its calls are shown under this name by `oshprof report --view regions`. A name ends where it has a zero
/// byte.
///
/// ```
/// let shmem = pellucid::init().unwrap();
/// pellucid::region("setup", || shmem.barrier_all());
/// ```
pub fn region<R>(name: &str, f: impl FnOnce() -> R) -> R {
    let name = name.split('\0').next().unwrap_or_default();
    let name = CString::new(name).unwrap_or_default();
    // SAFETY: the level takes a name.
    unsafe { ffi::shmem_pcontrol(ffi::REGION_BEGIN, name.as_ptr()) };
    let _region = Region(name);
    f()
}

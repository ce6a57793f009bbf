//! A shared library that is opened at run time.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// An open library. It stays open.
#[derive(Debug)]
pub struct Library(NonNull<c_void>);

impl Library {
    /// Opens a library.
    ///
    /// # Errors
    /// What the loader says.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: the name ends with NUL; what the library does when it is opened is its own affair.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        NonNull::new(handle).map(Self).ok_or_else(|| {
            // SAFETY: after a failure the loader has a text, which stays until its next call in this thread.
            unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned()
        })
    }

    /// The address of a name; not null.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: the library is open, the name ends with NUL.
        let found = unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) };
        if found.is_null() { Err(format!("it has no {}", name.to_string_lossy())) } else { Ok(found) }
    }
}

//! What the PEs of both measuring jobs have in common: the library is opened at run time, and most of what they call.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::path::Path;

use crate::sys::library::Library;

/// Bytes of a host's name.
pub const NAME: usize = 256;

/// Of `shmem_getmem` and `shmem_putmem`.
pub type Transfer = unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_int);

/// Routines that both call.
pub struct Common {
    pub init: unsafe extern "C" fn(),
    pub finalize: unsafe extern "C" fn(),
    pub barrier: unsafe extern "C" fn(),
    pub my_pe: unsafe extern "C" fn() -> c_int,
    pub n_pes: unsafe extern "C" fn() -> c_int,
    pub malloc: unsafe extern "C" fn(usize) -> *mut c_void,
    pub get: Transfer,
}

impl Common {
    /// Finds them.
    ///
    /// # Errors
    /// The library lacks one.
    pub fn of(library: &Library) -> Result<Common, String> {
        // SAFETY: the types are those of `shmem.h`.
        unsafe {
            Ok(Common {
                init: transmute::<*mut c_void, unsafe extern "C" fn()>(library.find(c"shmem_init")?),
                finalize: transmute::<*mut c_void, unsafe extern "C" fn()>(library.find(c"shmem_finalize")?),
                barrier: transmute::<*mut c_void, unsafe extern "C" fn()>(library.find(c"shmem_barrier_all")?),
                my_pe: transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(library.find(c"shmem_my_pe")?),
                n_pes: transmute::<*mut c_void, unsafe extern "C" fn() -> c_int>(library.find(c"shmem_n_pes")?),
                malloc: transmute::<*mut c_void, unsafe extern "C" fn(usize) -> *mut c_void>(
                    library.find(c"shmem_malloc")?,
                ),
                get: transmute::<*mut c_void, Transfer>(library.find(c"shmem_getmem")?),
            })
        }
    }
}

/// Measures with the routines that `of` finds in the library of this file. Gives the exit status.
pub fn run<R>(library: &Path, of: fn(&Library) -> Result<R, String>, measure: fn(&R) -> i32) -> i32 {
    match Library::open(library).and_then(|library| of(&library)) {
        Ok(routines) => measure(&routines),
        Err(error) => {
            pellucid_profile::say!("oshrun --calibrate: {}: {error}", library.display());
            1
        }
    }
}

/// The name in a buffer that [`libc::gethostname`] has filled, but for the last byte.
pub fn host(buffer: &[u8; NAME]) -> String {
    CStr::from_bytes_until_nul(buffer).map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
}

//! A mapped part of a segment.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::RawFd;

/// A shared mapping, unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the mapping is plain shared memory whose contents are only ever accessed through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `bytes` of a descriptor from `offset` on, for reading or for both.
    pub(crate) fn new(fd: RawFd, offset: usize, bytes: usize, write: bool) -> io::Result<Mapping> {
        let protection = if write { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nobody.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED | libc::MAP_NORESERVE, fd, offset)
        };
        if start == libc::MAP_FAILED {
            return Err(refused(bytes, &io::Error::last_os_error()));
        }
        // A core dump would materialize every page of the sparse memory, huge pages much of it. Failure costs only
        // memory. SAFETY: exactly the range mapped above.
        unsafe {
            libc::madvise(start, bytes, libc::MADV_DONTDUMP);
            libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
        }
        Ok(Mapping { start: start.cast(), bytes })
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start
    }

    /// Gives up ownership: the mapping stays for the rest of the process.
    pub(crate) fn leak(self) -> *mut u8 {
        let start = self.start;
        std::mem::forget(self);
        start
    }
}

/// What is seldom missing is memory: most of it is never touched.
#[cold]
fn refused(bytes: usize, error: &io::Error) -> io::Error {
    let mib = bytes.div_ceil(1 << 20);
    let by = if is_limited() { " (ulimit -v limits it)" } else { "" };
    io::Error::new(error.kind(), format!("mmap of {mib} MiB of the profile segment{by}: {error}"))
}

/// Whether this process may have so many addresses only.
fn is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the limit is writable.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    limit.rlim_cur != libc::RLIM_INFINITY
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the range mapped in `new`; borrows of it cannot outlive `self`.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}

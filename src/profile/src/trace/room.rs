//! A trace file and its part that can be written to: mapped, and reserved on the disk.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::format::{CHUNK_BYTES, HEAD_BYTES};

/// Chunks that are reserved at a time: a tradeoff between how often and how long a call is held up.
const STEP: u32 = 4;

/// A mapped file.
pub(super) struct Room {
    fd: libc::c_int,
    base: *mut u8,
    /// Chunks that may be written to.
    ready: u32,
    /// Chunks that it may have; less than asked for where the disk is full.
    bound: u32,
}

impl Room {
    /// A new file with its head reserved and mapped.
    pub(super) fn create(path: &Path, bound: u32) -> io::Result<Room> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        // Another job may write to a file of this name: its mapping must not lose the ground below it, so that the file
        // goes and is not cut.
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
        // SAFETY: the name is NUL-terminated.
        let fd = unsafe {
            libc::unlink(name.as_ptr());
            libc::open(name.as_ptr(), flags, 0o666)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut room = Room { fd, base: std::ptr::null_mut(), ready: 0, bound };
        let bytes = offset(bound);
        reserve(fd, 0, HEAD_BYTES)?;
        // Addresses for all that the file may become; they are not touched before the file has that part.
        // SAFETY: a new mapping at an address of the kernel's choice disturbs nobody.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, fd, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        room.base = base.cast();
        // SAFETY: exactly the range mapped above; failure costs only the size of core dumps.
        unsafe { libc::madvise(base, bytes, libc::MADV_DONTDUMP) };
        populate(room.base, HEAD_BYTES)?;
        Ok(room)
    }

    /// The head of the file.
    pub(super) fn head(&self) -> *mut u8 {
        self.base
    }

    /// The place of chunk `index`, for which there is room: otherwise how many chunks the file has room for, and the
    /// first time why not more.
    pub(super) fn chunk(&mut self, index: u32) -> Result<*mut u8, (u32, Option<io::Error>)> {
        if index >= self.bound {
            return Err((self.bound, None));
        }
        if index >= self.ready {
            let step = STEP.min(self.bound - self.ready);
            let (at, bytes) = (offset(self.ready), step as usize * CHUNK_BYTES);
            let reserved = reserve(self.fd, at, bytes)
                // SAFETY: within the mapping, which has `bound` chunks.
                .and_then(|()| populate(unsafe { self.base.add(at) }, bytes));
            if let Err(error) = reserved {
                self.bound = self.ready;
                return Err((self.bound, Some(error)));
            }
            self.ready += step;
        }
        // SAFETY: `index` is below `bound`, which the mapping has room for.
        Ok(unsafe { self.base.add(offset(index)) })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // The mapping stays, should there be one: only files that could not be made are dropped.
        // SAFETY: the descriptor is ours.
        unsafe { libc::close(self.fd) };
    }
}

fn offset(chunk: u32) -> usize {
    HEAD_BYTES + chunk as usize * CHUNK_BYTES
}

/// Gives a part of the file room on the disk.
fn reserve(fd: libc::c_int, at: usize, bytes: usize) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // Beyond the limit of file sizes there is a signal that ends the process.
    // SAFETY: `limit` is a valid place for the result.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0 && (at + bytes) as u64 > limit.rlim_cur {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    // SAFETY: plain system calls on a descriptor that is ours.
    match unsafe { libc::posix_fallocate(fd, at as libc::off_t, bytes as libc::off_t) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Has the kernel map the pages now, and say so where it cannot instead of sending a signal later. Older kernels (before
/// 5.14) map page by page at the first store.
fn populate(at: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: within a mapping that is ours.
    if unsafe { libc::madvise(at.cast(), bytes, libc::MADV_POPULATE_WRITE) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EINTR | libc::EAGAIN)) => Ok(()),
        error => Err(error),
    }
}

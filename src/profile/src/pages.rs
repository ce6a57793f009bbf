//! Pages that are made before they are met.
#![allow(unsafe_code)]

use std::io;

/// Has the kernel map the pages now, and say so where it cannot instead of sending a signal later. Older kernels
/// (before 5.14) map page by page at the first store.
pub(crate) fn populate(at: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: it changes nothing that is there; where nothing is mapped, it fails.
    if unsafe { libc::madvise(at.cast(), bytes, libc::MADV_POPULATE_WRITE) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EINTR | libc::EAGAIN)) => Ok(()),
        error => Err(error),
    }
}

/// As [`populate`], the pages that this is in; nothing where it fails.
pub(crate) fn populate_around<T>(part: &T) {
    // SAFETY: no precondition.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let begin = std::ptr::from_ref(part).cast::<u8>();
    let before = begin.addr() % page;
    let _ = populate(begin.wrapping_sub(before).cast_mut(), before + size_of::<T>());
}

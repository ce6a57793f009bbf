//! Pages that are made before they are met, and which were.
#![allow(unsafe_code)]

use std::io;

/// Bytes of the kernel's pages.
pub(crate) fn page() -> usize {
    // SAFETY: no precondition.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Has the kernel map the pages that these bytes are in now, and say so where it cannot instead of sending a signal
/// later. Older kernels (before 5.14) map page by page at the first store.
pub(crate) fn populate(at: *mut u8, bytes: usize) -> io::Result<()> {
    let before = at.addr() % page();
    let first = at.wrapping_sub(before);
    // SAFETY: it changes nothing that is there; where nothing is mapped, it fails.
    if unsafe { libc::madvise(first.cast(), before + bytes, libc::MADV_POPULATE_WRITE) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        error if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EINTR | libc::EAGAIN)) => Ok(()),
        error => Err(error),
    }
}

/// As [`populate`], the pages that this is in; nothing where it fails.
pub(crate) fn populate_around<T>(part: &T) {
    let _ = populate(std::ptr::from_ref(part).cast_mut().cast(), size_of::<T>());
}

/// Visits the rows of a table in memory of a file on pages that were ever written, as far as the kernel says: to read
/// the others would make them.
pub(crate) fn visit_written<T>(rows: &[T], mut visit: impl FnMut(&T)) {
    let page = page();
    let begin = rows.as_ptr().cast::<u8>();
    let before = begin.addr() % page;
    let mut are_there = vec![1_u8; (before + size_of_val(rows)).div_ceil(page)];
    // SAFETY: the pages are those of the table, and there is a byte for each. Where it fails, all stay as if there.
    unsafe {
        let first = begin.wrapping_sub(before).cast_mut().cast();
        libc::mincore(first, before + size_of_val(rows), are_there.as_mut_ptr());
    }
    let is_there = |at: usize| are_there[at / page] & 1 != 0;
    for (at, row) in rows.iter().enumerate() {
        let at = before + at * size_of::<T>();
        if is_there(at) && is_there(at + size_of::<T>() - 1) {
            visit(row);
        }
    }
}

//! Huge pages: those that the system keeps a pool of, and those that it makes as it goes.
#![allow(unsafe_code)]

use super::{mmap, standard};
use std::ffi::CStr;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Where the size of a memory file's pages is, as a power of two, in its flags.
const SIZE_SHIFT: u32 = 26;

/// Pages of a size in the system's pool: all, and those that nobody has. `None`: it has no pages of this size.
pub fn pool(page: usize) -> Option<(usize, usize)> {
    let number = |what: &str| {
        let path = format!("/sys/kernel/mm/hugepages/hugepages-{}kB/{what}", page >> 10);
        fs::read_to_string(path).ok()?.trim().parse().ok()
    };
    Some((number("nr_hugepages")?, number("free_hugepages")?))
}

/// Whether the system makes huge pages of a memory file's, where a program asks for it.
pub fn are_made_for_files() -> bool {
    let text = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/shmem_enabled").unwrap_or_default();
    ["[always]", "[within_size]", "[advise]", "[force]"].iter().any(|choice| text.contains(choice))
}

/// Bytes of a huge page that the system makes as it goes; 0 where it makes none.
pub fn made_size() -> usize {
    let text = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// Asks for huge pages in a mapping, which are a matter of luck.
///
/// # Safety
/// The range is mapped.
pub unsafe fn advise(start: *mut u8, bytes: usize) {
    // SAFETY: the caller's; the contents of the range stay what they are.
    unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
}

/// A memory file of pages of the system's pool. Error: of the system.
pub fn memfd(name: &CStr, page: usize) -> Result<OwnedFd, i32> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_HUGETLB | page.trailing_zeros() << SIZE_SHIFT;
    // SAFETY: a C string; the result is checked before it is owned.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    // SAFETY: just made, and nobody else's.
    if fd < 0 { Err(mmap::last_errno()) } else { Ok(standard::above(unsafe { OwnedFd::from_raw_fd(fd) })) }
}

/// A file of [`memfd`] that another process has open under a number. Error: of the system.
pub fn open_of(pid: i32, descriptor: i32) -> Result<OwnedFd, i32> {
    let path = format!("/proc/{pid}/fd/{descriptor}");
    let opened = File::options().read(true).write(true).open(path);
    let file: OwnedFd = opened.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?.into();
    // SAFETY: zeros are a value of it, and it is filled in below.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a descriptor of this process, and room for the answer.
    let known = unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut about) } == 0;
    // In a container the number may be another process's.
    if known && about.f_type as i64 == libc::HUGETLBFS_MAGIC { Ok(file) } else { Err(libc::ESRCH) }
}

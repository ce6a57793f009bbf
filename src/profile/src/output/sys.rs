//! System calls on directories and on files in them.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::order;

/// What is known of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileStatus {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) mode: u32,
}

impl FileStatus {
    pub(super) fn is(&self, kind: libc::mode_t) -> bool {
        self.mode & libc::S_IFMT == kind
    }

    pub(super) fn is_same_file(&self, other: &FileStatus) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl From<libc::stat> for FileStatus {
    fn from(stat: libc::stat) -> FileStatus {
        FileStatus { device: stat.st_dev, inode: stat.st_ino, uid: stat.st_uid, gid: stat.st_gid, mode: stat.st_mode }
    }
}

fn c_name(name: &OsStr) -> io::Result<CString> {
    Ok(CString::new(name.as_bytes())?)
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Makes a directory; the umask takes from the mode.
pub(super) fn make_dir(path: &Path, mode: libc::mode_t) -> io::Result<()> {
    let name = c_name(path.as_os_str())?;
    // SAFETY: the name is NUL-terminated.
    check(unsafe { libc::mkdir(name.as_ptr(), mode) }).map(drop)
}

/// Opens a directory; `flags` are further ones.
pub(super) fn open_dir(path: &Path, flags: libc::c_int) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let name = c_name(path.as_os_str())?;
    // SAFETY: the name is NUL-terminated.
    let fd = check(unsafe { libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC | flags) })?;
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens a file of a directory, whose name is one component; never through a symbolic link.
pub(super) fn open_at(dir: BorrowedFd<'_>, name: &OsStr, flags: libc::c_int) -> io::Result<OwnedFd> {
    let name = c_name(name)?;
    let flags = flags | libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NOCTTY;
    // SAFETY: the name is NUL-terminated.
    let fd = check(unsafe { libc::openat(dir.as_raw_fd(), name.as_ptr(), flags, 0o666) })?;
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Another descriptor of what a descriptor of this process stands for, with the same place in it.
#[cfg(feature = "report")]
pub(super) fn duplicate(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: plain system call; a number that is no open descriptor is an error.
    let fd = check(unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) })?;
    // SAFETY: just made, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Has writing to an open file wait for room, where it was opened not to.
#[cfg(feature = "report")]
pub(super) fn set_blocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: plain system calls on a descriptor that is open.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) }).map(drop)
}

/// Facts about an open file.
pub(super) fn facts(fd: BorrowedFd<'_>) -> io::Result<FileStatus> {
    // SAFETY: an all-zero stat is a valid value to be overwritten.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place for the result.
    check(unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) })?;
    Ok(stat.into())
}

/// Facts about a name in a directory; of a symbolic link, about the link.
#[cfg(feature = "report")]
pub(super) fn facts_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<FileStatus> {
    let name = c_name(name)?;
    // SAFETY: an all-zero stat is a valid value to be overwritten.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the name is NUL-terminated, and `stat` a valid place for the result.
    check(unsafe { libc::fstatat(dir.as_raw_fd(), name.as_ptr(), &raw mut stat, libc::AT_SYMLINK_NOFOLLOW) })?;
    Ok(stat.into())
}

/// Renames within a directory; what had the new name is gone.
pub(super) fn rename_at(dir: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let (from, to) = (c_name(from)?, c_name(to)?);
    let dir = dir.as_raw_fd();
    // SAFETY: both names are NUL-terminated.
    check(unsafe { libc::renameat(dir, from.as_ptr(), dir, to.as_ptr()) }).map(drop)
}

/// Moves something to another directory. Of what may have the new name, an empty directory alone is replaced by a
/// directory.
#[cfg(feature = "report")]
pub(super) fn move_at(dir: BorrowedFd<'_>, from: &OsStr, to_dir: BorrowedFd<'_>, to: &OsStr) -> io::Result<()> {
    let (from, to) = (c_name(from)?, c_name(to)?);
    // SAFETY: both names are NUL-terminated.
    check(unsafe { libc::renameat(dir.as_raw_fd(), from.as_ptr(), to_dir.as_raw_fd(), to.as_ptr()) }).map(drop)
}

/// Removes a file from a directory.
pub(super) fn unlink_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: the name is NUL-terminated.
    check(unsafe { libc::unlinkat(dir.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
}

/// The names in a directory, sorted.
pub(super) fn names(dir: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    // A description of its own: the position in a directory belongs to the description.
    // SAFETY: plain system call; the name is a literal.
    let fd = check(unsafe {
        libc::openat(dir.as_raw_fd(), c".".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC)
    })?;
    // SAFETY: the descriptor is ours, and goes to the stream.
    let stream = unsafe { libc::fdopendir(fd) };
    if stream.is_null() {
        let error = io::Error::last_os_error();
        // SAFETY: the stream did not take it.
        unsafe { libc::close(fd) };
        return Err(error);
    }
    let mut names = Vec::new();
    // SAFETY: the stream is open; an entry is read before the next call. That there is no entry is the end or an error,
    // which the number of the last error tells apart once it has been set to none.
    let error = unsafe {
        loop {
            *libc::__errno_location() = 0;
            let Some(entry) = libc::readdir(stream).as_ref() else { break };
            let name = CStr::from_ptr(entry.d_name.as_ptr()).to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        let error = io::Error::last_os_error();
        libc::closedir(stream);
        error
    };
    if error.raw_os_error() != Some(0) {
        return Err(error);
    }
    order::sort_by(&mut names, Ord::cmp);
    Ok(names)
}

/// The user whose rights this process has.
pub(super) fn user() -> u32 {
    // SAFETY: no arguments, cannot fail.
    unsafe { libc::geteuid() }
}

/// A number that nobody else has.
pub(super) fn random() -> u64 {
    let mut bytes = [0_u8; 8];
    // SAFETY: the buffer is writable for its length.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), libc::GRND_NONBLOCK) };
    if got == bytes.len() as isize {
        return u64::from_ne_bytes(bytes) | 1;
    }
    // Early in the life of a system: as good as a process and a moment are.
    (crate::clock::realtime_ns() ^ (u64::from(std::process::id()) << 40)) | 1
}

//! Descriptors: what they refer to, and their modes.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// What a descriptor refers to: device and inode.
pub fn identity(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: an all-zero stat is valid, and fstat fills it.
    let (rc, stat) = unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        (libc::fstat(fd, &mut stat), stat)
    };
    (rc == 0).then_some((stat.st_dev, stat.st_ino))
}

/// Makes reads and writes return at once. Only for descriptions that nobody else shares.
pub fn set_nonblocking(fd: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: no pointers.
    let rc = unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK)
    };
    if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Has programs that this process becomes inherit a descriptor. Async-signal-safe.
pub fn inherit(fd: RawFd) {
    // SAFETY: changes a flag of a descriptor.
    unsafe { libc::fcntl(fd, libc::F_SETFD, 0) };
}

/// Has a descriptor refer to what another one does, for programs that this process becomes, too.
pub fn replace(fd: RawFd, by: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: no pointers; who has the descriptor goes on having one.
    if unsafe { libc::dup2(by.as_raw_fd(), fd) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A counter to wake an epoll with.
pub fn eventfd() -> io::Result<OwnedFd> {
    // SAFETY: no pointers; the descriptor returned is new and ours.
    unsafe {
        let fd = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// Reads what is there: 0 is the end.
pub fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is writable for its length.
    let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// Writes what there is room for.
pub fn write(fd: RawFd, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the bytes are readable for their length.
    let count = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    if count < 0 { Err(io::Error::last_os_error()) } else { Ok(count as usize) }
}

/// Whether this is a file, which takes what is written without a reader.
pub fn is_regular(fd: RawFd) -> bool {
    // SAFETY: an all-zero stat is valid, and fstat fills it.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFREG
    }
}

/// Columns of a terminal; `None` for what is none.
pub fn columns(terminal: RawFd) -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `size` is a valid place for the result.
    let known = unsafe { libc::ioctl(terminal, libc::TIOCGWINSZ, &raw mut size) } == 0 && size.ws_col > 0;
    known.then_some(size.ws_col.into())
}

/// Whether this process may read from its terminal: reading from the background would stop it.
pub fn in_foreground_of(terminal: RawFd) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::tcgetpgrp(terminal) == libc::getpgrp() }
}

/// Makes this process's group that which reads from its terminal, from the background too. Async-signal-safe.
pub fn take_foreground(terminal: RawFd) {
    // SAFETY: no pointers.
    give_foreground(terminal, unsafe { libc::getpgrp() });
}

/// The same for another group of processes.
pub fn give_foreground(terminal: RawFd, group: libc::pid_t) {
    // SAFETY: valid structures; the mask is as it was afterwards.
    unsafe {
        let (mut stop, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&raw mut stop);
        libc::sigaddset(&raw mut stop, libc::SIGTTOU);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const stop, &raw mut before);
        libc::tcsetpgrp(terminal, group);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_tells_files_apart() {
        let (a, b) = (std::fs::File::open("/dev/null").unwrap(), std::fs::File::open("/dev/zero").unwrap());
        assert_eq!(identity(a.as_raw_fd()), identity(a.as_raw_fd()));
        assert_ne!(identity(a.as_raw_fd()), identity(b.as_raw_fd()));
        assert_eq!(identity(-1), None);
    }
}

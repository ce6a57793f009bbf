//! The numbers of the standard streams. Where one of them is closed, the next descriptor that is opened gets its
//! number, and what the program prints goes there: into the job's memory, or to another PE.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The first number that is no standard stream's.
pub(super) const FIRST: RawFd = libc::STDERR_FILENO + 1;

/// Takes the numbers of standard streams that are closed, so that nothing that is opened later gets them, be it by this
/// library or by those that it uses. They fail as before: what stands there can be neither read nor written, and what
/// the program starts does not inherit it.
pub fn reserve() {
    // One more than there are: the last has another number, and is closed again.
    for _ in 0..=FIRST {
        // SAFETY: a C string; the descriptor is new.
        let fd = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if fd >= FIRST {
            // SAFETY: just opened, and nobody else's.
            unsafe { libc::close(fd) };
        }
        if !(0..FIRST).contains(&fd) {
            return;
        }
    }
}

/// The same file by a number that is no standard stream's, which the program may have closed since; inherited as it
/// was. Where there is no other number, that is what it keeps.
pub fn above(fd: OwnedFd) -> OwnedFd {
    if fd.as_raw_fd() >= FIRST {
        return fd;
    }
    // SAFETY: plain system calls on a descriptor that is open.
    let new = unsafe {
        let is_closed_on_exec = libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) & libc::FD_CLOEXEC != 0;
        let how = if is_closed_on_exec { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
        libc::fcntl(fd.as_raw_fd(), how, FIRST)
    };
    // SAFETY: just made, and nobody else's.
    if new < 0 { fd } else { unsafe { OwnedFd::from_raw_fd(new) } }
}

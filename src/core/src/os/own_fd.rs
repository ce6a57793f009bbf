//! A descriptor that the library keeps in a process whose program may close it.
//!
//! Daemons and sandboxes close all descriptors that are not theirs, and files that the program opens then get the
//! numbers. What is kept is known by what it stands for: where its number stands for something else, it is not used
//! and not closed any more.
#![allow(unsafe_code)]

use std::mem::{ManuallyDrop, zeroed};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// What is no descriptor: system calls refuse it, and `poll` passes over it.
pub const NONE: RawFd = -1;

/// A file, a pipe or a socket. Those without an identity of their own (`eventfd`, `epoll`) cannot be told apart.
#[derive(Debug)]
pub struct OwnFd {
    fd: ManuallyDrop<OwnedFd>,
    known: Known,
}

/// What a number of a descriptor stood for.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    number: RawFd,
    /// Device and number there.
    identity: Option<(u64, u64)>,
}

/// What a number stands for; `None`: it is not open. Makes one system call.
fn identity(fd: RawFd) -> Option<(u64, u64)> {
    // SAFETY: zeros are a value of it.
    let mut about: libc::stat = unsafe { zeroed() };
    // SAFETY: `about` is a valid place for the answer.
    (unsafe { libc::fstat(fd, &raw mut about) } == 0).then_some((about.st_dev, about.st_ino))
}

impl OwnFd {
    /// Takes what is open now.
    pub fn new(fd: OwnedFd) -> Self {
        let known = Known { number: fd.as_raw_fd(), identity: identity(fd.as_raw_fd()) };
        Self { fd: ManuallyDrop::new(fd), known }
    }

    /// The same, for others who use it as long as this is not dropped.
    pub fn known(&self) -> Known {
        self.known
    }

    /// See [`Known::is_there`].
    pub fn is_there(&self) -> bool {
        self.known.is_there()
    }
}

impl Known {
    /// Whether the number stands for it still. May be asked in a signal handler.
    pub fn is_there(&self) -> bool {
        self.identity.is_some() && identity(self.number) == self.identity
    }
}

/// The number, or [`NONE`] where that stands for something else now: so it is to be asked for each time that it is
/// used. In a signal handler, too.
impl AsRawFd for Known {
    fn as_raw_fd(&self) -> RawFd {
        if self.is_there() { self.number } else { NONE }
    }
}

/// As [`Known`].
impl AsRawFd for OwnFd {
    fn as_raw_fd(&self) -> RawFd {
        self.known.as_raw_fd()
    }
}

impl Drop for OwnFd {
    fn drop(&mut self) {
        if self.is_there() {
            // SAFETY: this is the end of it, and nobody else takes it.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::mmap;
    use std::fs::File;
    use std::os::fd::IntoRawFd;

    /// Has a number stand for another file.
    fn replace(kept: &OwnFd) -> File {
        let other = File::from(mmap::memfd(c"other").unwrap());
        let number = kept.fd.as_raw_fd();
        // SAFETY: both are open, and `kept` does not use its number any more.
        assert_eq!(unsafe { libc::dup2(other.as_raw_fd(), number) }, number);
        other
    }

    #[test]
    fn a_number_that_stands_for_something_else_is_neither_used_nor_closed() {
        let kept = OwnFd::new(mmap::memfd(c"own").unwrap());
        let number = kept.as_raw_fd();
        assert!(kept.is_there() && number >= 0);
        let other = replace(&kept);
        assert_eq!(kept.as_raw_fd(), NONE);
        drop(kept);
        assert_eq!(identity(number), identity(other.as_raw_fd()));
        // SAFETY: made above.
        assert_eq!(unsafe { libc::close(number) }, 0);
    }

    #[test]
    fn what_is_there_is_closed() {
        let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(OwnFd::new(one.into()));
        assert_eq!(std::io::Read::read(&mut &other, &mut [0]).unwrap(), 0, "the other end");
    }

    #[test]
    fn a_number_that_is_closed_is_none() {
        let number = mmap::memfd(c"closed").unwrap().into_raw_fd();
        // SAFETY: the number is far above those of other tests, and this test's alone.
        let kept = unsafe {
            let far = libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 900);
            libc::close(number);
            let kept = OwnFd::new(std::os::fd::FromRawFd::from_raw_fd(far));
            libc::close(far);
            kept
        };
        assert_eq!((kept.as_raw_fd(), kept.is_there()), (NONE, false));
    }
}

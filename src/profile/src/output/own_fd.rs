//! A descriptor that is kept in a process whose program may close it.
//!
//! Daemons and sandboxes close all descriptors that are not theirs, and files that the program opens then get the
//! numbers. What is kept is known by what it stands for: where its number stands for something else, it is not used
//! and not closed any more.
#![allow(unsafe_code)]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::sys::{self, FileStatus};

/// A file, a directory or a socket.
#[derive(Debug)]
pub(crate) struct OwnFd {
    fd: ManuallyDrop<OwnedFd>,
    facts: FileStatus,
}

impl OwnFd {
    /// Takes what is open now.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<OwnFd> {
        Ok(OwnFd { facts: sys::facts(fd.as_fd())?, fd: ManuallyDrop::new(fd) })
    }

    /// What it stands for.
    pub(super) fn facts(&self) -> &FileStatus {
        &self.facts
    }

    /// The descriptor, to be used at once; `None`: the program has closed it.
    pub(crate) fn get(&self) -> Option<BorrowedFd<'_>> {
        let fd = self.fd.as_fd();
        sys::facts(fd).is_ok_and(|facts| facts.is_same_file(&self.facts)).then_some(fd)
    }

    /// As [`Self::get`].
    ///
    /// # Errors
    /// `EBADF` where the program has closed it.
    pub(crate) fn open(&self) -> io::Result<BorrowedFd<'_>> {
        self.get().ok_or_else(|| io::Error::from_raw_os_error(libc::EBADF))
    }

    /// Keeps another descriptor of the same file instead. False: it is of another one, and is closed.
    pub(crate) fn renew(&mut self, fd: OwnedFd) -> bool {
        match OwnFd::new(fd) {
            Ok(other) if other.facts.is_same_file(&self.facts) => {
                *self = other;
                true
            }
            _ => false,
        }
    }
}

impl Drop for OwnFd {
    fn drop(&mut self) {
        if self.get().is_some() {
            // SAFETY: this is the end of it, and nobody else takes it.
            unsafe { ManuallyDrop::drop(&mut self.fd) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_number_that_stands_for_something_else_is_neither_used_nor_closed() {
        let open = |path| File::open(path).unwrap();
        let mut kept = OwnFd::new(open("/proc/self/exe").into()).unwrap();
        let number = kept.get().unwrap().as_raw_fd();
        // SAFETY: both are open, and `kept` does not use its number any more.
        assert_eq!(unsafe { libc::dup2(open("/dev/null").as_raw_fd(), number) }, number);
        assert!(kept.get().is_none());
        assert_eq!(kept.open().unwrap_err().raw_os_error(), Some(libc::EBADF));
        assert!(!kept.renew(open("/dev/null").into()));
        assert!(kept.renew(open("/proc/self/exe").into()) && kept.get().is_some());
        drop(kept);
        // SAFETY: `dup2` has made it.
        assert_eq!(unsafe { libc::close(number) }, 0, "it was closed");
    }
}

//! Wakes a thread that sleeps on descriptors.
#![allow(unsafe_code)]

use super::standard;
use crate::base::{Cause, Fault};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A descriptor that is readable once it was signalled.
#[derive(Debug)]
pub struct Wakeup(OwnedFd);

impl Wakeup {
    /// A new one, not signalled.
    pub fn new() -> Result<Self, Fault> {
        // SAFETY: makes a new descriptor.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            return Err(Fault::from(Cause::Os { what: "making a descriptor for the progress thread", error }));
        }
        // SAFETY: just made, and nobody else's.
        Ok(Self(standard::above(unsafe { OwnedFd::from_raw_fd(fd) })))
    }

    /// Makes the descriptor readable.
    pub fn signal(&self) {
        let one = 1u64;
        // SAFETY: an event descriptor takes 8 bytes.
        unsafe { libc::write(self.fd(), (&raw const one).cast(), 8) };
    }

    /// Makes it unreadable again.
    pub fn clear(&self) {
        let mut rung = 0u64;
        // SAFETY: an event descriptor gives 8 bytes, or none.
        unsafe { libc::read(self.fd(), (&raw mut rung).cast(), 8) };
    }

    /// What to sleep on.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_seen_until_it_is_cleared() {
        let wakeup = Wakeup::new().unwrap();
        let heard = || {
            let mut fd = libc::pollfd { fd: wakeup.fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor, which is open.
            unsafe { libc::poll(&raw mut fd, 1, 0) == 1 }
        };
        assert!(!heard());
        wakeup.signal();
        wakeup.signal();
        assert!(heard());
        wakeup.clear();
        assert!(!heard());
        wakeup.clear();
    }
}

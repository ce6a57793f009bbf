//! Wakes a thread that sleeps on descriptors.
//!
//! By a pair of sockets: an `eventfd` could not be told from one that the program has got the number for, once it has
//! closed this one.
#![allow(unsafe_code)]

use super::own_fd::{NONE, OwnFd};
use super::standard;
use crate::base::{Cause, Fault};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A descriptor that is readable once it was signalled.
#[derive(Debug)]
pub struct Wakeup {
    sleeps: OwnFd,
    signals: OwnFd,
}

impl Wakeup {
    /// A new one, not signalled.
    pub fn new() -> Result<Self, Fault> {
        let mut ends = [0; 2];
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: makes two new descriptors.
        if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
            let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            return Err(Fault::from(Cause::Os { what: "making a descriptor for the progress thread", error }));
        }
        // SAFETY: just made, and nobody else's.
        let [sleeps, signals] = ends.map(|fd| OwnFd::new(standard::above(unsafe { OwnedFd::from_raw_fd(fd) })));
        Ok(Self { sleeps, signals })
    }

    /// Makes the descriptor readable; false: the program has closed it. May be called in a signal handler.
    pub fn signal(&self) -> bool {
        let fd = self.signals.as_raw_fd();
        // Where there is no room, it is readable.
        // SAFETY: one byte; where nobody has the other end, no signal comes of it.
        unsafe { libc::send(fd, c"x".as_ptr().cast(), 1, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
        fd != NONE
    }

    /// Makes it unreadable again.
    pub fn clear(&self) {
        let mut rung = [0_u8; 256];
        // SAFETY: the buffer is as long as said.
        let mut read =
            || unsafe { libc::recv(self.sleeps.as_raw_fd(), rung.as_mut_ptr().cast(), rung.len(), libc::MSG_DONTWAIT) };
        while read() == 256 {}
    }

    /// What to sleep on; [`NONE`] where the program has closed it.
    pub fn fd(&self) -> RawFd {
        self.sleeps.as_raw_fd()
    }

    /// Whether the program has closed it, with all else that it does not know: daemons and sandboxes do.
    pub fn is_closed(&self) -> bool {
        !(self.sleeps.is_there() && self.signals.is_there())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

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
        assert!(!wakeup.is_closed());
    }

    #[test]
    fn more_signals_than_there_is_room_for_are_cleared_at_once() {
        let wakeup = Wakeup::new().unwrap();
        assert!((0..5000).all(|_| wakeup.signal()));
        wakeup.clear();
        let mut fd = libc::pollfd { fd: wakeup.fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        assert_eq!(unsafe { libc::poll(&raw mut fd, 1, 0) }, 0);
    }

    #[test]
    fn what_the_program_has_opened_in_its_place_is_not_written_to() {
        let wakeup = Wakeup::new().unwrap();
        let (own, program) = UnixStream::pair().unwrap();
        let (numbers, far) = ([wakeup.sleeps.as_raw_fd(), wakeup.signals.as_raw_fd()], own.as_raw_fd());
        // SAFETY: the numbers stand for the program's from here on.
        numbers.iter().for_each(|number| assert_eq!(unsafe { libc::dup2(far, *number) }, *number));
        assert!(wakeup.is_closed() && !wakeup.signal() && wakeup.fd() < 0);
        wakeup.clear();
        program.set_nonblocking(true).unwrap();
        assert_eq!((&program).read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
        drop(wakeup);
        // SAFETY: `dup2` has made them, and they are open still.
        numbers.iter().for_each(|number| assert_eq!(unsafe { libc::close(*number) }, 0));
    }
}

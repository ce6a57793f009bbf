//! One set of descriptors to wait on.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Readiness that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Data, or the end of it.
    Read,
    /// Room.
    Write,
    /// Either.
    Both,
    /// For now only that the other end is gone.
    Nothing,
}

/// An epoll instance; descriptors are named by tokens of the caller's choice.
pub struct Epoll(OwnedFd);

/// Tokens that one [`Epoll::wait`] can return.
const BATCH: usize = 64;

impl Epoll {
    /// A new, empty set.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no pointers; the descriptor returned is new and ours.
        unsafe {
            let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Self(OwnedFd::from_raw_fd(fd))) }
        }
    }

    /// Adds a descriptor.
    pub fn add(&self, fd: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    /// Changes what is waited for.
    pub fn modify(&self, fd: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    /// Removes a descriptor.
    pub fn remove(&self, fd: &impl AsRawFd) {
        let _ = self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::Nothing);
    }

    fn control(&self, operation: i32, fd: &impl AsRawFd, token: u64, interest: Interest) -> io::Result<()> {
        let events = match interest {
            Interest::Read => libc::EPOLLIN,
            Interest::Write => libc::EPOLLOUT,
            Interest::Both => libc::EPOLLIN | libc::EPOLLOUT,
            Interest::Nothing => 0,
        };
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: the event is valid for the call.
        let rc = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd.as_raw_fd(), &mut event) };
        if rc < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Waits for readiness, at most `timeout` (for ever where none is given), and returns the tokens that are ready.
    pub fn wait(&self, timeout: Option<Duration>) -> io::Result<Vec<u64>> {
        // Rounded up: waking early would turn the last millisecond into a busy loop.
        let millis = timeout.map_or(-1, |t| i32::try_from(t.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
        // SAFETY: the array is writable for BATCH events.
        let count = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), BATCH as i32, millis) };
        if count < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(Vec::new()) } else { Err(error) };
        }
        Ok(events[..count as usize].iter().map(|event| event.u64).collect())
    }
}

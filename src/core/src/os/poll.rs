//! Waiting for several descriptors.
#![allow(unsafe_code)]

use std::os::fd::RawFd;
use std::time::Duration;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Something to read, or the end.
    Input,
    /// The other end to be closed, whatever there is to read.
    Hangup,
}

/// Waits until something has happened, or for so long; `None`: for ever. Gives which of the descriptors it was.
pub fn wait(fds: &[(RawFd, Interest)], at_most: Option<Duration>) -> Vec<bool> {
    let mut list: Vec<libc::pollfd> = fds
        .iter()
        .map(|(fd, what)| {
            let events = if *what == Interest::Input { libc::POLLIN } else { libc::POLLRDHUP };
            libc::pollfd { fd: *fd, events, revents: 0 }
        })
        .collect();
    let timeout = at_most.map_or(-1, |time| i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX));
    // SAFETY: an array of so many.
    let ready = unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, timeout) };
    list.iter().map(|entry| ready > 0 && entry.revents != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn an_end_is_told_from_input() {
        let (mut a, b) = UnixStream::pair().unwrap();
        let look = |what| wait(&[(b.as_raw_fd(), what)], Some(Duration::ZERO))[0];
        assert!(!look(Interest::Input) && !look(Interest::Hangup));
        a.write_all(b"x").unwrap();
        assert!(look(Interest::Input) && !look(Interest::Hangup));
        drop(a);
        assert!(look(Interest::Hangup));
    }
}

//! A pair of sockets that carry whole messages between two processes of a host.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes of a message at most: what the system lets one message have by default, less its own needs.
pub const MOST: usize = 128 << 10;

/// Two connected ends, both closed on exec. Messages arrive whole, once and in order.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the array is writable for the two descriptors, which are new and ours.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, ends.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Sends a message. `wait`: until there is room; else `WouldBlock` says that there is none.
pub fn send(fd: &impl AsRawFd, message: &[u8], wait: bool) -> io::Result<()> {
    let flags = libc::MSG_NOSIGNAL | if wait { 0 } else { libc::MSG_DONTWAIT };
    loop {
        // SAFETY: the message is readable for its length.
        let sent = unsafe { libc::send(fd.as_raw_fd(), message.as_ptr().cast(), message.len(), flags) };
        match io::Error::last_os_error() {
            _ if sent >= 0 => return Ok(()),
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

/// The next message; empty: the other end is closed. `wait`: until there is one; else `WouldBlock` says that there is
/// none.
pub fn receive(fd: &impl AsRawFd, wait: bool) -> io::Result<Vec<u8>> {
    let flags = if wait { 0 } else { libc::MSG_DONTWAIT };
    let mut message = vec![0; MOST];
    loop {
        // SAFETY: the buffer is writable for its length.
        let count = unsafe { libc::recv(fd.as_raw_fd(), message.as_mut_ptr().cast(), message.len(), flags) };
        match io::Error::last_os_error() {
            _ if count >= 0 => {
                message.truncate(count as usize);
                message.shrink_to_fit();
                return Ok(message);
            }
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_whole() {
        let (a, b) = pair().unwrap();
        send(&a, b"one", false).unwrap();
        send(&a, &[7; MOST], false).unwrap();
        assert_eq!(receive(&b, true).unwrap(), b"one");
        assert_eq!(receive(&b, true).unwrap(), [7; MOST]);
        assert_eq!(receive(&b, false).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(a);
        assert_eq!(receive(&b, true).unwrap(), b"");
        assert!(send(&b, b"x", true).is_err());
    }
}

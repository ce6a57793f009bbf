//! Local sockets: names without a file, who is at the other end, and descriptors that travel through them.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::time::{Duration, Instant};

/// Descriptors that one message carries at most.
const DESCRIPTORS: usize = 4;

/// Listens under a name that only this network namespace knows, and that is gone with the listener.
pub fn listen(name: &str) -> io::Result<UnixListener> {
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)
}

/// Connects to such a name.
pub fn connect(name: &str) -> io::Result<UnixStream> {
    UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)
}

/// The next connection; `None` where none comes in time.
pub fn accept(listener: &UnixListener, until: Instant) -> io::Result<Option<UnixStream>> {
    if !readable(listener.as_raw_fd(), until)? {
        return Ok(None);
    }
    listener.accept().map(|(stream, _)| Some(stream))
}

/// Whether a descriptor is a socket.
pub fn is_socket(fd: RawFd) -> bool {
    // SAFETY: a zeroed stat is a valid value.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: stat is writable.
    unsafe { libc::fstat(fd, &raw mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK }
}

/// Waits until there is something to read, or the other end is closed; false where the time comes first.
pub fn readable(fd: RawFd, until: Instant) -> io::Result<bool> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // Rounded up: a wait of less than a millisecond must not turn into none.
        let timeout = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: one pollfd.
        match unsafe { libc::poll(&raw mut poll, 1, timeout) } {
            0 if Instant::now() < until => {}
            0 => return Ok(false),
            1.. => return Ok(true),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

/// The user whose process is at the other end.
pub fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let mut who = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut len = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: a structure of the type and length that this option fills.
    let result = unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut who).cast(), &raw mut len)
    };
    if result == 0 { Ok(who.uid) } else { Err(io::Error::last_os_error()) }
}

/// The user of this process.
pub fn user() -> u32 {
    // SAFETY: asks for a value.
    unsafe { libc::geteuid() }
}

/// Room for the control message of [`DESCRIPTORS`] descriptors, aligned as its header.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// Sends bytes with descriptors.
pub fn send(stream: &UnixStream, bytes: &[u8], descriptors: &[RawFd]) -> io::Result<()> {
    assert!(descriptors.len() <= DESCRIPTORS && !bytes.is_empty());
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: a zeroed header is an empty message; the parts point to the locals above, which outlive the call; the
    // control buffer has room for DESCRIPTORS descriptors behind its header.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if !descriptors.is_empty() {
            let payload = size_of_val(descriptors) as u32;
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(payload) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(payload) as _;
            std::ptr::copy_nonoverlapping(descriptors.as_ptr().cast::<u8>(), libc::CMSG_DATA(header), payload as usize);
        }
        libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
    };
    match sent {
        n if n == bytes.len() as isize => Ok(()),
        0.. => Err(io::ErrorKind::WriteZero.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sends all of the bytes to a socket of any kind; an end that is closed is an error, not a signal.
pub fn send_all(to: &impl AsRawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the bytes are readable.
        let sent = unsafe { libc::send(to.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
        if sent >= 0 {
            bytes = &bytes[sent as usize..];
            continue;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// Takes what has come, or waits for something; 0: the other end is closed.
pub fn read(from: &impl AsRawFd, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is writable for its length.
    let got = unsafe { libc::recv(from.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Receives at most `bytes.len()` bytes, and the descriptors that came with them. No byte: the other end is closed.
pub fn receive(stream: &UnixStream, bytes: &mut [u8], wait: Duration) -> io::Result<(usize, Vec<OwnedFd>)> {
    if !readable(stream.as_raw_fd(), Instant::now() + wait)? {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut control = Control([0; 64]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut descriptors = Vec::new();
    // SAFETY: as in send; the kernel fills the control buffer with whole headers, which the CMSG functions walk; each
    // descriptor in it is new and this process's own.
    let received = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = size_of::<Control>() as _;
        let received = libc::recvmsg(stream.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC);
        if received >= 0 {
            let mut header = libc::CMSG_FIRSTHDR(&raw const message);
            while !header.is_null() {
                if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_RIGHTS {
                    let payload = (*header).cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                    for index in 0..payload / size_of::<RawFd>() {
                        let fd = libc::CMSG_DATA(header).cast::<RawFd>().add(index).read_unaligned();
                        descriptors.push(OwnedFd::from_raw_fd(fd));
                    }
                }
                header = libc::CMSG_NXTHDR(&raw const message, header);
            }
            if message.msg_flags & libc::MSG_CTRUNC != 0 {
                // There is no number left for what came with it.
                return Err(io::Error::from_raw_os_error(libc::EMFILE));
            }
        }
        received
    };
    if received < 0 { Err(io::Error::last_os_error()) } else { Ok((received as usize, descriptors)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom, Write};

    #[test]
    fn a_descriptor_arrives_with_its_bytes() {
        let (a, b) = UnixStream::pair().unwrap();
        assert_eq!(peer_user(&a).unwrap(), user());
        let mut file = std::fs::File::from(crate::os::mmap::memfd(c"test").unwrap());
        file.write_all(b"hello").unwrap();
        send(&a, b"xy", &[file.as_raw_fd(), file.as_raw_fd()]).unwrap();
        let mut bytes = [0; 8];
        let (n, mut descriptors) = receive(&b, &mut bytes, Duration::from_secs(10)).unwrap();
        assert_eq!((&bytes[..n], descriptors.len()), (&b"xy"[..], 2));
        let mut other = std::fs::File::from(descriptors.remove(0));
        other.seek(SeekFrom::Start(0)).unwrap();
        let mut text = String::new();
        other.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
        drop(a);
        assert_eq!(receive(&b, &mut bytes, Duration::from_secs(10)).unwrap().0, 0);
    }

    #[test]
    fn whoever_does_not_come_is_not_waited_for() {
        let name = format!("pellucid-test-{}", std::process::id());
        let listener = listen(&name).unwrap();
        assert!(accept(&listener, Instant::now()).unwrap().is_none());
        let stream = connect(&name).unwrap();
        assert!(accept(&listener, Instant::now() + Duration::from_secs(10)).unwrap().is_some());
        drop(listener);
        assert!(connect(&name).is_err());
        drop(stream);
    }
}

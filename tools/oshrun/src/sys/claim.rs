//! Names that one process of a user can have at a time: abstract sockets, gone with the process, leaving nothing
//! behind.
//!
//! Any user can take any such name. So a name that is taken counts only where its owner is this user (or root): the
//! kernel says whose a listening socket is to who connects to it.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// What became of a claim.
pub enum Claim {
    /// This process has the name until it drops this.
    Ours(OwnedFd),
    /// A process of the same user, or of root, has it.
    Taken,
    /// Nobody can tell: another user has the name, or there are no sockets.
    Unknown,
}

/// Claims a name.
pub fn claim(name: &str) -> Claim {
    let Some((address, length)) = address(name) else { return Claim::Unknown };
    let Some(fd) = socket() else { return Claim::Unknown };
    // SAFETY: an address of this length, and an open socket.
    let bound = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) } == 0;
    if bound {
        // SAFETY: an open socket. Who connects learns whose it is.
        unsafe { libc::listen(fd.as_raw_fd(), 16) };
        return Claim::Ours(fd);
    }
    match owner(&address, length) {
        Some(user) if user == 0 || user == pellucid_core::os::socket::user() => Claim::Taken,
        _ => Claim::Unknown,
    }
}

/// The user whose socket has a name.
fn owner(address: &libc::sockaddr_un, length: libc::socklen_t) -> Option<libc::uid_t> {
    let fd = socket()?;
    // SAFETY: an address of this length, and an open socket, which does not wait.
    if unsafe { libc::connect(fd.as_raw_fd(), (&raw const *address).cast(), length) } != 0 {
        return None;
    }
    // SAFETY: all zeros is a value.
    let mut peer: libc::ucred = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    let level = (libc::SOL_SOCKET, libc::SO_PEERCRED);
    // SAFETY: the result is writable for the size given.
    let rc = unsafe { libc::getsockopt(fd.as_raw_fd(), level.0, level.1, (&raw mut peer).cast(), &raw mut size) };
    (rc == 0).then_some(peer.uid)
}

fn socket() -> Option<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no pointers; the descriptor is new and ours.
    unsafe {
        let fd = libc::socket(libc::AF_UNIX, kind, 0);
        (fd >= 0).then(|| OwnedFd::from_raw_fd(fd))
    }
}

/// The address of a name: behind a zero byte, which makes it abstract.
fn address(name: &str) -> Option<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: all zeros is a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    if name.len() + 1 > address.sun_path.len() {
        return None;
    }
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path[1..].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    Some((address, length as libc::socklen_t))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_excludes_others_until_it_is_dropped() {
        let name = format!("oshrun-test-{}", std::process::id());
        let Claim::Ours(first) = claim(&name) else { panic!("the name is free") };
        // However often others ask.
        for _ in 0..10 {
            assert!(matches!(claim(&name), Claim::Taken));
        }
        drop(first);
        // A process that another test starts right now has it a moment longer, until it becomes another program.
        let freed = || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            matches!(claim(&name), Claim::Ours(_))
        };
        assert!((0..1000).any(|_| freed()));
    }

    #[test]
    fn a_name_whose_owner_does_not_show_is_nobody_s() {
        let name = format!("oshrun-test-mute-{}", std::process::id());
        let (address, length) = address(&name).unwrap();
        let mute = socket().unwrap();
        // SAFETY: as in `claim`; it does not listen.
        assert_eq!(unsafe { libc::bind(mute.as_raw_fd(), (&raw const address).cast(), length) }, 0);
        assert!(matches!(claim(&name), Claim::Unknown));
        assert!(matches!(claim(&"x".repeat(200)), Claim::Unknown));
    }
}

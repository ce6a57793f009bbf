//! Handing a segment over to the host's exporter of metrics (`oshprof serve`), so that no job is too short to be seen.
//!
//! Whoever made the segment connects to the exporter's socket and sends a descriptor of it, for reading only, with
//! lines `name=value` up to an empty one. The connection stays open while the job runs; its end is the job's end.
//! Before it, lines may say how the job ended. Where no exporter listens, that costs a system call or two.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::model::End;
use crate::output::OwnFd;

/// Names another socket: of the exporter, and for who hands over to it.
pub const VARIABLE: &str = "PELLUCID_SERVE";
/// What comes with a segment, which says itself whose it is.
pub const JOB_MESSAGE: &[u8] = b"segment\n\n";

/// The connection to the exporter: the job runs as long as it is open.
#[derive(Debug)]
pub struct Handover {
    socket: OwnFd,
}

/// Where exporters listen: the one that was named, or that of the system, then that of the user.
pub fn sockets(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(named) = variable(VARIABLE).filter(|named| !named.is_empty()) {
        return vec![named.into()];
    }
    vec![PathBuf::from("/run/pellucid/serve.sock"), user_socket(variable)]
}

/// Where an exporter of this user listens.
pub fn user_socket(variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    match variable("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("pellucid/serve.sock"),
        None => PathBuf::from(format!("/tmp/pellucid-{}/serve.sock", user())),
    }
}

/// This process's user.
pub fn user() -> u32 {
    // SAFETY: no arguments, no failure.
    unsafe { libc::geteuid() }
}

/// Name of this host.
pub fn host() -> String {
    super::host_name()
}

impl Handover {
    /// Hands `segment` to the first exporter that listens. `None`: there is none, or it is neither this user's nor
    /// root's.
    pub fn offer(segment: BorrowedFd<'_>, sockets: &[PathBuf]) -> Option<Handover> {
        sockets.iter().find_map(|path| Handover::to(path, segment).ok())
    }

    fn to(path: &Path, segment: BorrowedFd<'_>) -> io::Result<Handover> {
        let socket = connect(path)?;
        let server = peer(socket.as_fd())?;
        if server != 0 && server != user() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Handover::over(socket.as_fd(), segment)?;
        Ok(Handover { socket: OwnFd::new(socket)? })
    }

    /// Hands `segment` over a connection that is there.
    ///
    /// # Errors
    /// What the system answered.
    pub fn over(socket: BorrowedFd<'_>, segment: BorrowedFd<'_>) -> io::Result<()> {
        // One that cannot be written through.
        let readable = File::open(format!("/proc/self/fd/{}", segment.as_raw_fd()))?;
        send(socket, JOB_MESSAGE, readable.as_fd())
    }

    /// Says how the job ended, as [`state`] has it, and that it has.
    pub fn end(self, state: &str) {
        // Whoever does not listen any more does not need it.
        let _ = self.socket.open().and_then(|socket| tell(socket, format!("state={state}\n\n").as_bytes()));
    }
}

/// Sends bytes over a socket whose other end may have gone: no signal ends the program.
///
/// # Errors
/// What the system answered.
pub fn tell(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the buffer is as long as said.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    match usize::try_from(sent) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// How a job with this exit status ended, whose PEs ended so as far as is known.
pub fn state(status: i32, mut ends: impl Iterator<Item = End>) -> &'static str {
    // As shells have it: a signal, and 128. Programs may choose any number.
    const OF_SIGNALS: std::ops::RangeInclusive<i32> = 129..=192;
    match status {
        0 => "finished",
        status if OF_SIGNALS.contains(&status) && ends.all(|end| end != End::Exited(status)) => "killed",
        _ => "failed",
    }
}

/// The same of a job that one of its PEs has ended by itself: no signal has, whatever the number.
pub fn state_by_itself(status: i32) -> &'static str {
    state(status, [End::Exited(status)].into_iter())
}

/// The user at the other end of a socket.
///
/// # Errors
/// What the system answered.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut who = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    let place = (&raw mut who).cast();
    // SAFETY: `who` is as long as said.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, place, &raw mut bytes) })?;
    Ok(who.uid)
}

/// Does not wait where the exporter does not accept: the job is not to be held up.
fn connect(path: &Path) -> io::Result<OwnedFd> {
    // SAFETY: zeros are a valid address without a name.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= address.sun_path.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    address.sun_path.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from as libc::c_char);
    let flags = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: plain system call.
    let raw = check(unsafe { libc::socket(libc::AF_UNIX, flags, 0) })?;
    // SAFETY: the descriptor was just made and is nobody else's.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address is as long as said.
    check(unsafe { libc::connect(raw, (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// Sends bytes with a descriptor.
fn send(socket: BorrowedFd<'_>, bytes: &[u8], fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // Room for one descriptor, aligned as its head.
    let mut control = [0_u64; 4];
    // SAFETY: zeros are an empty message.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: pure arithmetic.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<i32>() as u32) } as usize;
    // SAFETY: the control buffer has room for a head and a descriptor, so the first head is there.
    unsafe {
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(size_of::<i32>() as u32) as usize;
        libc::CMSG_DATA(head).cast::<i32>().write_unaligned(fd.as_raw_fd());
    }
    // SAFETY: everything that the message points to lives until the call returns.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    match usize::try_from(sent) {
        Ok(sent) if sent == bytes.len() => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'a>(pairs: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |wanted| pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| OsString::from(*value))
    }

    #[test]
    fn sockets_in_their_order() {
        assert_eq!(sockets(set(&[("PELLUCID_SERVE", "/x/y")])), [PathBuf::from("/x/y")]);
        let two = sockets(set(&[("XDG_RUNTIME_DIR", "/run/user/7")]));
        assert_eq!(two[0], Path::new("/run/pellucid/serve.sock"));
        assert_eq!(two[1], Path::new("/run/user/7/pellucid/serve.sock"));
    }

    #[test]
    fn a_job_is_killed_where_its_status_is_that_of_a_signal_which_no_pe_has_chosen() {
        for (status, ends, expected) in [
            (0, &[End::Exited(0)][..], "finished"),
            (1, &[End::Exited(1), End::Stopped], "failed"),
            (128, &[], "failed"),
            (139, &[End::Killed(libc::SIGSEGV), End::Stopped], "killed"),
            (130, &[End::Stopped, End::Stopped], "killed"),
            (137, &[], "killed"),
            (137, &[End::Unknown, End::Exited(0)], "killed"),
            (140, &[End::Stopped, End::Exited(140)], "failed"),
            (200, &[End::Exited(200)], "failed"),
            (200, &[], "failed"),
            (255, &[End::Exited(255)], "failed"),
        ] {
            assert_eq!(state(status, ends.iter().copied()), expected, "{status}, {ends:?}");
        }
    }

    #[test]
    fn without_an_exporter_nothing_happens() {
        let file = File::open("/dev/null").unwrap();
        assert!(Handover::offer(file.as_fd(), &[PathBuf::from("/nowhere/serve.sock")]).is_none());
        assert!(Handover::offer(file.as_fd(), &[PathBuf::from("/".repeat(200))]).is_none());
    }
}

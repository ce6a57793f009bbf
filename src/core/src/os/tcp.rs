//! What the kernel knows of this process's TCP connections, whoever made them.
#![allow(unsafe_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::RawFd;
use std::time::Duration;

/// A connection: its descriptor, its own port, and the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Connection {
    /// In this process.
    pub fd: RawFd,
    /// Here.
    pub port: u16,
    /// There.
    pub peer: (IpAddr, u16),
}

/// How a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpState {
    /// Something was sent, data or the question whether anyone is there, that is not answered.
    pub waits: bool,
    /// Since when nothing has come.
    pub silent: Duration,
}

/// All connections that are established.
pub fn connections() -> Vec<Connection> {
    descriptors().into_iter().filter_map(connection).collect()
}

/// All descriptors of this process.
fn descriptors() -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The connection behind a descriptor; `None`: it is none of TCP.
pub fn connection(fd: RawFd) -> Option<Connection> {
    state(fd)?;
    Some(Connection { fd, port: name(fd, libc::getsockname)?.1, peer: name(fd, libc::getpeername)? })
}

type Name = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

fn name(fd: RawFd, ask: Name) -> Option<(IpAddr, u16)> {
    // SAFETY: a zeroed address is valid.
    let mut address: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&address) as libc::socklen_t;
    // SAFETY: room for any address, and its size.
    let error = unsafe { ask(fd, (&raw mut address).cast(), &raw mut len) };
    if error != 0 {
        return None;
    }
    // SAFETY: the address is as long as any, and plain bytes.
    let bytes: [u8; 28] = unsafe { std::ptr::read((&raw const address).cast()) };
    decode(&bytes)
}

/// Address and port of a `sockaddr`; `None`: it is no internet address. An IPv4 address in IPv6 clothes is one of IPv4.
pub fn decode(bytes: &[u8]) -> Option<(IpAddr, u16)> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
    let ip = match i32::from(family) {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?)),
        libc::AF_INET6 => IpAddr::from(Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?)),
        _ => return None,
    };
    Some((ip.to_canonical(), port))
}

/// The state of a connection; `None`: it is none that is established.
pub fn state(fd: RawFd) -> Option<TcpState> {
    const ESTABLISHED: u8 = 1;
    let info = info(fd).filter(|info| info.tcpi_state == ESTABLISHED)?;
    let silent = info.tcpi_last_ack_recv.min(info.tcpi_last_data_recv);
    Some(TcpState {
        waits: info.tcpi_unacked > 0 || info.tcpi_probes > 0 || info.tcpi_retransmits > 0,
        silent: Duration::from_millis(silent.into()),
    })
}

/// Whether some connection has been asked for more than once and is neither made nor refused. The kernel does not tell
/// to whom before it is made.
pub fn any_unanswered() -> bool {
    const SYN_SENT: u8 = 2;
    let asks = |fd| info(fd).is_some_and(|info| info.tcpi_state == SYN_SENT && info.tcpi_retransmits > 0);
    descriptors().into_iter().any(asks)
}

fn info(fd: RawFd) -> Option<libc::tcp_info> {
    // SAFETY: zeroes are a valid value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut len = size_of_val(&info) as libc::socklen_t;
    // SAFETY: room for the structure, and its size.
    let error =
        unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, (&raw mut info).cast(), &raw mut len) };
    (error == 0).then_some(info)
}

/// Ends all connections to an address: whoever has sent something there learns that it does not arrive.
pub fn shut_down(peer: IpAddr) {
    for connection in connections().iter().filter(|connection| connection.peer.0 == peer) {
        // Another thread may have closed it since, and its number be that of something else.
        if self::connection(connection.fd) == Some(*connection) {
            // SAFETY: a system call without memory.
            unsafe { libc::shutdown(connection.fd, libc::SHUT_RDWR) };
        }
    }
}

/// Has the kernel ask the other end every second whether it is there, where nothing else is said. The answer is its
/// kernel's: the process may be stopped.
pub fn keep_alive(fd: RawFd) {
    set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, 1);
    set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, 1);
    // It is not the kernel that ends the connection, but whoever looks.
    set(fd, libc::IPPROTO_TCP, libc::TCP_KEEPCNT, 60);
    set(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1);
    retry_often(fd);
}

/// Has the kernel send again each second at least what the other end has not taken, where it can (Linux 6.15 and
/// later). Others wait twice as long each time, and try 3 and 6.2 s after a link was cut, but not in between.
pub fn retry_often(fd: RawFd) {
    const TCP_RTO_MAX_MS: libc::c_int = 44;
    set(fd, libc::IPPROTO_TCP, TCP_RTO_MAX_MS, 1000);
}

/// A refusal leaves things as they are.
fn set(fd: RawFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) {
    // SAFETY: an integer, as these options take it.
    unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), size_of_val(&value) as u32) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn connections_are_found_and_others_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (other, _) = listener.accept().unwrap();
        let all = connections();
        let found = |stream: &TcpStream| all.iter().find(|connection| connection.fd == stream.as_raw_fd()).copied();
        let port = |stream: &TcpStream| stream.local_addr().unwrap().port();
        let peer = |stream: &TcpStream| ("127.0.0.1".parse().unwrap(), port(stream));
        assert_eq!(found(&one), Some(Connection { fd: one.as_raw_fd(), port: port(&one), peer: peer(&other) }));
        assert_eq!(found(&other).unwrap().peer, peer(&one));
        assert_eq!(connection(listener.as_raw_fd()), None);
        assert_eq!(connection(-1), None);
        keep_alive(one.as_raw_fd());
        let state = state(one.as_raw_fd()).unwrap();
        assert!(!state.waits && state.silent < Duration::from_secs(60), "{state:?}");
    }

    /// A kernel whose queue of connections is full does not answer.
    #[test]
    fn a_question_that_nobody_answers_is_seen() {
        let listener = TcpListener::bind("127.0.0.7:0").unwrap();
        // SAFETY: a system call without memory: the queue has room for one.
        unsafe { libc::listen(listener.as_raw_fd(), 0) };
        let address = listener.local_addr().unwrap();
        let ask = || std::thread::spawn(move || TcpStream::connect_timeout(&address, Duration::from_secs(30)).is_ok());
        let asking = [ask(), ask(), ask()];
        while !any_unanswered() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let taking = std::thread::spawn(move || [(); 3].map(|()| listener.accept().is_ok()));
        assert!(asking.into_iter().all(|asking| asking.join().unwrap()));
        assert_eq!(taking.join().unwrap(), [true; 3]);
    }

    #[test]
    fn connections_to_an_address_end() {
        use std::io::Read;
        let listener = TcpListener::bind("127.0.0.9:0").unwrap();
        let mut one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let _other = listener.accept().unwrap();
        shut_down("127.0.0.10".parse().unwrap());
        assert!(connection(one.as_raw_fd()).is_some());
        shut_down("127.0.0.9".parse().unwrap());
        assert_eq!(one.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn addresses_are_read() {
        let mut v4 = [0; 28];
        v4[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        v4[2..8].copy_from_slice(&[1, 2, 10, 77, 0, 3]);
        assert_eq!(decode(&v4), Some(("10.77.0.3".parse().unwrap(), 0x102)));
        let mut v6 = [0; 28];
        v6[..2].copy_from_slice(&(libc::AF_INET6 as u16).to_ne_bytes());
        v6[18..24].copy_from_slice(&[255, 255, 10, 77, 0, 3]);
        assert_eq!(decode(&v6), Some(("10.77.0.3".parse().unwrap(), 0)));
        assert_eq!(decode(&[0; 28]), None);
        assert_eq!(decode(&v4[..6]), None);
    }
}

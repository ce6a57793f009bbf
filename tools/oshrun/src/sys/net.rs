//! Addresses of this host, and options of connections.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Has the system give up on bytes that the other side has not taken for so long, be it dead or out of reach.
pub fn give_up_after(stream: &TcpStream, time: Duration) {
    let millis = time.as_millis() as libc::c_uint;
    let size = size_of_val(&millis) as libc::socklen_t;
    // SAFETY: the value is readable for its size. A refusal leaves it to the silence of the other side.
    unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_USER_TIMEOUT,
            (&raw const millis).cast(),
            size,
        )
    };
}

/// Addresses at which other hosts may reach this one; its own loopback addresses come last.
pub fn addresses() -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    let mut list = std::ptr::null_mut();
    // SAFETY: on success the list is valid until it is freed, which is after its last use; addresses are as long as
    // their family says.
    unsafe {
        if libc::getifaddrs(&mut list) != 0 {
            return addresses;
        }
        let mut next = list;
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            let is_up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
            let Some(address) = entry.ifa_addr.as_ref().filter(|_| is_up) else { continue };
            match i32::from(address.sa_family) {
                libc::AF_INET => {
                    let address = entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned();
                    addresses.push(IpAddr::V4(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr))));
                }
                libc::AF_INET6 => {
                    let address = entry.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned();
                    addresses.push(IpAddr::V6(Ipv6Addr::from(address.sin6_addr.s6_addr)));
                }
                _ => {}
            }
        }
        libc::freeifaddrs(list);
    }
    // Addresses that mean something on their own link only need to be told which link.
    addresses.retain(|address| !is_of_a_link(*address));
    addresses.sort_by_key(|address| (address.is_loopback(), address.is_ipv6()));
    addresses.dedup();
    addresses
}

fn is_of_a_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// The addresses from which this host would talk to another, one for each of the other's; empty where the name says
/// nothing here.
pub fn towards(host: &str) -> Vec<IpAddr> {
    let from = |there: SocketAddr| {
        let any: IpAddr = if there.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0)).ok()?;
        // Nothing is sent: the system only chooses the way.
        socket.connect(there).ok()?;
        let own = socket.local_addr().ok()?.ip();
        // See `addresses`.
        (!is_of_a_link(own)).then_some(own)
    };
    let mut found: Vec<IpAddr> = Vec::new();
    for address in (host, 9).to_socket_addrs().into_iter().flatten().filter_map(from) {
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

/// The addresses that a name stands for; empty where it says nothing here.
pub fn resolve(host: &str) -> Vec<IpAddr> {
    (host, 9).to_socket_addrs().into_iter().flatten().map(|address| address.ip()).collect()
}

/// Something that nobody can guess, as text.
pub fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_addresses_and_a_name() {
        let all = addresses();
        assert!(all.iter().any(IpAddr::is_loopback));
        assert_eq!(towards("127.0.0.1"), [IpAddr::from(Ipv4Addr::LOCALHOST)]);
        assert_eq!(towards("no-such-host.invalid"), [] as [IpAddr; 0]);
        assert!(!pellucid_core::os::process::host_name().is_empty());
        assert_ne!(secret().unwrap(), secret().unwrap());
    }
}

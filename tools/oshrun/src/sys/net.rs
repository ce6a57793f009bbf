//! Addresses of this host, and options of connections.
#![allow(unsafe_code)]

use pellucid_core::os::interface;
use std::fs::File;
use std::io::{self, Read};
use std::net::{IpAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Has the system give up on bytes that the other side has not taken for so long, be it dead or out of reach.
pub fn give_up_after(stream: &TcpStream, time: Duration) {
    // A refusal leaves it to the silence of the other side.
    set(stream, libc::TCP_USER_TIMEOUT, time.as_millis() as libc::c_int);
}

/// Has the system keep connections back over which nothing has come, for some seconds: one that is taken says
/// something, as a rule.
pub fn hold_back_silent(listener: &TcpListener) {
    const SECONDS: libc::c_int = 3;
    set(listener, libc::TCP_DEFER_ACCEPT, SECONDS);
}

/// Sets an option of TCP; a refusal leaves things as they are.
fn set(socket: &impl AsRawFd, option: libc::c_int, value: libc::c_int) {
    let size = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the value is readable for its size.
    unsafe { libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, (&raw const value).cast(), size) };
}

/// Addresses at which other hosts may reach this one; its own loopback addresses come last.
pub fn addresses() -> Vec<IpAddr> {
    let mut addresses: Vec<IpAddr> = interface::addresses().into_iter().map(|(_, address)| address).collect();
    addresses.dedup();
    addresses
}

/// The addresses from which this host would talk to another, one for each of the other's; empty where the name says
/// nothing here.
pub fn towards(host: &str) -> Vec<IpAddr> {
    let mut found: Vec<IpAddr> = Vec::new();
    for address in resolve(host).into_iter().filter_map(interface::towards) {
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
    use std::net::Ipv4Addr;

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

//! Network interfaces of this host.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// An interface that carries nothing now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silent {
    /// Its name.
    pub name: String,
    /// It is up, and only its link is not.
    pub is_up: bool,
}

impl fmt::Display for Silent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, if self.is_up { "has no carrier" } else { "is down" })
    }
}

/// Interfaces other than the loopback that carry nothing now.
#[cold]
pub fn silent() -> Vec<Silent> {
    let mut silent: Vec<Silent> = Vec::new();
    let mut list = std::ptr::null_mut();
    // SAFETY: on success the list is valid until it is freed, which is after its last use; names end with 0.
    unsafe {
        if libc::getifaddrs(&raw mut list) != 0 {
            return silent;
        }
        let mut next = list;
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            let has = |flag: libc::c_int| entry.ifa_flags & flag as u32 != 0;
            if has(libc::IFF_LOOPBACK) || has(libc::IFF_UP) && has(libc::IFF_RUNNING) {
                continue;
            }
            let name = CStr::from_ptr(entry.ifa_name).to_string_lossy().into_owned();
            // One with several addresses is there several times.
            if silent.iter().all(|one| one.name != name) {
                silent.push(Silent { name, is_up: has(libc::IFF_UP) });
            }
        }
        libc::freeifaddrs(list);
    }
    silent
}

/// Addresses of the interfaces that are up, with the names of these, those of the loopback last. Without those that
/// mean something on their own link only.
pub fn addresses() -> Vec<(String, IpAddr)> {
    let mut addresses = Vec::new();
    let mut list = std::ptr::null_mut();
    // SAFETY: on success the list is valid until it is freed, which is after its last use; names end with 0, addresses
    // are as long as their family says.
    unsafe {
        if libc::getifaddrs(&raw mut list) != 0 {
            return addresses;
        }
        let mut next = list;
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            let is_up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
            let Some(address) = entry.ifa_addr.as_ref().filter(|_| is_up) else { continue };
            let address: IpAddr = match i32::from(address.sa_family) {
                libc::AF_INET => {
                    let address = entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned();
                    Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into()
                }
                libc::AF_INET6 => {
                    let address = entry.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned();
                    Ipv6Addr::from(address.sin6_addr.s6_addr).into()
                }
                _ => continue,
            };
            addresses.push((CStr::from_ptr(entry.ifa_name).to_string_lossy().into_owned(), address));
        }
        libc::freeifaddrs(list);
    }
    addresses.retain(|(_, address)| !is_of_a_link(*address));
    addresses.sort_by_key(|(_, address)| (address.is_loopback(), address.is_ipv6()));
    addresses
}

/// Addresses that mean something on their own link only need to be told which link.
fn is_of_a_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// The address from which this host would talk to another one. Nothing is sent.
pub fn towards(there: IpAddr) -> Option<IpAddr> {
    let any: IpAddr = if there.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    // The system only chooses the way.
    socket.connect(SocketAddr::new(there, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|own| !is_of_a_link(*own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_addresses() {
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert!(addresses().contains(&("lo".to_owned(), loopback)));
        assert_eq!(towards(loopback), Some(loopback));
    }

    #[test]
    fn the_loopback_is_never_named() {
        assert!(super::silent().iter().all(|one| one.name != "lo"));
    }
}

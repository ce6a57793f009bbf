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

/// What `of` makes of the system's entries, of which an interface has one for each of its addresses, with their flags;
/// nothing where there is no list.
fn entries<R>(of: impl Fn(&libc::ifaddrs, i32) -> Option<R>) -> Vec<R> {
    let mut all = Vec::new();
    let mut list = std::ptr::null_mut();
    // SAFETY: on success the list is valid until it is freed, which is after its last use.
    unsafe {
        if libc::getifaddrs(&raw mut list) != 0 {
            return all;
        }
        let mut next = list;
        while let Some(entry) = next.as_ref() {
            next = entry.ifa_next;
            all.extend(of(entry, entry.ifa_flags as i32));
        }
        libc::freeifaddrs(list);
    }
    all
}

fn name(entry: &libc::ifaddrs) -> String {
    // SAFETY: names of the system's list end with 0.
    unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned()
}

/// The address of an entry that has one of the internet protocol.
fn address(entry: &libc::ifaddrs) -> Option<IpAddr> {
    // SAFETY: null, or an address of the system's list, which is as long as its family says.
    unsafe {
        match i32::from(entry.ifa_addr.as_ref()?.sa_family) {
            libc::AF_INET => {
                let address = entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let address = entry.ifa_addr.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(address.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

/// Interfaces other than the loopback that carry nothing now.
#[cold]
pub fn silent() -> Vec<Silent> {
    const CARRIES: i32 = libc::IFF_UP | libc::IFF_RUNNING;
    let is_silent = |flags: i32| flags & libc::IFF_LOOPBACK == 0 && flags & CARRIES != CARRIES;
    let all = entries(|entry, flags| {
        is_silent(flags).then(|| Silent { name: name(entry), is_up: flags & libc::IFF_UP != 0 })
    });
    let mut silent: Vec<Silent> = Vec::new();
    for one in all {
        // One with several addresses is there several times.
        if silent.iter().all(|other| other.name != one.name) {
            silent.push(one);
        }
    }
    silent
}

/// Addresses of the interfaces that are up, with the names of these, those of the loopback last. Without those that
/// mean something on their own link only.
pub fn addresses() -> Vec<(String, IpAddr)> {
    let mut addresses = entries(|entry, flags| {
        let address = address(entry).filter(|_| flags & libc::IFF_UP != 0)?;
        (!is_of_a_link(address)).then(|| (name(entry), address))
    });
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

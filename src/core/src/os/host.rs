//! Connections to `HOST:PORT`.
//!
//! The C library's look-up of names is found at run time: a reference to it would have the linker warn of every static
//! executable. There the own host's name is known, which is what launchers give.
#![allow(unsafe_code)]

use super::{library, process};
use std::ffi::{CString, c_char, c_int};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::ptr::{null, null_mut};

/// Connects to the first of the host's addresses that answers.
pub fn connect(place: &str) -> io::Result<TcpStream> {
    if let Ok(address) = place.parse::<SocketAddr>() {
        return TcpStream::connect(address);
    }
    let wrong = |text: &str| io::Error::new(io::ErrorKind::InvalidInput, text.to_owned());
    let (name, port) = place.rsplit_once(':').ok_or_else(|| wrong("HOST:PORT expected"))?;
    let port: u16 = port.parse().map_err(|_| wrong("HOST:PORT expected"))?;
    let mut result = Err(io::Error::new(io::ErrorKind::NotFound, format!("host {name} is not known")));
    for address in addresses(name) {
        result = TcpStream::connect(SocketAddr::new(address, port));
        if result.is_ok() {
            break;
        }
    }
    result
}

type LookUp =
    unsafe extern "C" fn(*const c_char, *const c_char, *const libc::addrinfo, *mut *mut libc::addrinfo) -> c_int;
type Free = unsafe extern "C" fn(*mut libc::addrinfo);

/// All addresses of a host.
pub fn addresses(name: &str) -> Vec<IpAddr> {
    let find = |function| {
        // SAFETY: dlsym knows the handle.
        unsafe { library::symbol(libc::RTLD_DEFAULT as usize, function) }
    };
    let (look_up, free) = (find(c"getaddrinfo"), find(c"freeaddrinfo"));
    let Ok(text) = CString::new(name) else { return Vec::new() };
    if look_up == 0 || free == 0 {
        let is_here = name == "localhost" || name == process::host_name();
        return if is_here { vec![Ipv4Addr::LOCALHOST.into()] } else { Vec::new() };
    }
    // SAFETY: these are the C library's functions of these names.
    let (look_up, free) =
        unsafe { (std::mem::transmute::<usize, LookUp>(look_up), std::mem::transmute::<usize, Free>(free)) };
    // SAFETY: all-zero is a valid value: anything will do.
    let mut hints: libc::addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_socktype = libc::SOCK_STREAM;
    let mut first = null_mut();
    // SAFETY: a C string, valid hints, a place for the answer.
    if unsafe { look_up(text.as_ptr(), null(), &raw const hints, &raw mut first) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = first;
    // SAFETY: a list of entries that ends with null; each has an address of the family that it names.
    unsafe {
        while let Some(entry) = at.as_ref() {
            match entry.ai_family {
                libc::AF_INET => {
                    let address = (*entry.ai_addr.cast::<libc::sockaddr_in>()).sin_addr.s_addr;
                    found.push(Ipv4Addr::from(address.to_ne_bytes()).into());
                }
                libc::AF_INET6 => {
                    let address = (*entry.ai_addr.cast::<libc::sockaddr_in6>()).sin6_addr.s6_addr;
                    found.push(Ipv6Addr::from(address).into());
                }
                _ => {}
            }
            at = entry.ai_next;
        }
        free(first);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["127.0.0.1", "localhost"] {
            assert!(connect(&format!("{host}:{port}")).is_ok(), "{host}");
        }
        for wrong in ["localhost", "localhost:x", "a\0b:1"] {
            assert!(connect(wrong).is_err(), "{wrong}");
        }
    }
}

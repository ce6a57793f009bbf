//! Network interfaces of this host.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fmt;

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

#[cfg(test)]
mod tests {
    #[test]
    fn the_loopback_is_never_named() {
        assert!(super::silent().iter().all(|one| one.name != "lo"));
    }
}

//! Network interfaces of this host.
#![allow(unsafe_code)]

use std::ffi::CStr;

/// Interfaces other than the loopback that carry nothing now, each with the reason: `eth0 is down`, `eth1 has no
/// carrier`.
#[cold]
pub fn silent() -> Vec<String> {
    let mut silent: Vec<String> = Vec::new();
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
            let why = match (has(libc::IFF_LOOPBACK), has(libc::IFF_UP), has(libc::IFF_RUNNING)) {
                (true, ..) | (_, true, true) => continue,
                (_, false, _) => "is down",
                (_, true, false) => "has no carrier",
            };
            let text = format!("{} {why}", CStr::from_ptr(entry.ifa_name).to_string_lossy());
            // One with several addresses is there several times.
            if !silent.contains(&text) {
                silent.push(text);
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
        assert!(super::silent().iter().all(|text| !text.starts_with("lo ")));
    }
}

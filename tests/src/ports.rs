//! Where processes listen, as the kernel of their network namespace says it.

use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Where a process listens for TCP connections: from `/proc/PID/net/tcp` and `tcp6`, and its descriptors.
pub fn listening(pid: u32) -> BTreeSet<SocketAddr> {
    let own = sockets(pid);
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        let rows =
            text.lines().skip(1).filter_map(row).filter(|(_, state, inode)| *state == LISTEN && own.contains(inode));
        found.extend(rows.map(|(address, ..)| address));
    }
    found
}

/// `TCP_LISTEN` of the kernel.
const LISTEN: u8 = 10;

/// Inodes of a process's sockets.
fn sockets(pid: u32) -> HashSet<u64> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let target = |entry: std::fs::DirEntry| {
        let link = std::fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned();
        link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    entries.filter_map(target).collect()
}

/// Own address, state and inode of a row.
fn row(line: &str) -> Option<(SocketAddr, u8, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, port) = words.get(1)?.split_once(':')?;
    let state = u8::from_str_radix(words.get(3)?, 16).ok()?;
    Some((SocketAddr::new(ip(address)?, u16::from_str_radix(port, 16).ok()?), state, words.get(9)?.parse().ok()?))
}

/// An address, which the kernel writes as words of the machine's byte order.
fn ip(text: &str) -> Option<IpAddr> {
    let words = text.as_bytes().chunks(8).map(|chunk| u32::from_str_radix(std::str::from_utf8(chunk).ok()?, 16).ok());
    let bytes: Vec<u8> = words.collect::<Option<Vec<u32>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    match bytes.len() {
        4 => <[u8; 4]>::try_from(bytes).ok().map(|bytes| Ipv4Addr::from(bytes).into()),
        _ => <[u8; 16]>::try_from(bytes).ok().map(|bytes| Ipv6Addr::from(bytes).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn own_listeners_are_found() {
        let listeners = ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0"].map(TcpListener::bind);
        for listener in listeners.iter().flatten() {
            let address = listener.local_addr().unwrap();
            assert!(listening(std::process::id()).contains(&address), "{address}");
        }
        let gone = TcpListener::bind("127.0.0.1:0").map(|listener| listener.local_addr().unwrap()).unwrap();
        assert!(!listening(std::process::id()).contains(&gone));
    }
}

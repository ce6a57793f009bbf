//! The connection that libpmix has with the server of this host: it is among those of the process, and leads where the
//! launcher said.

use crate::os::{mmap, tcp};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

/// Variables in which servers of different versions say where they listen: `NAMESPACE.RANK;tcp4://ADDRESS:PORT`.
const ADDRESSES: [&str; 5] =
    ["PMIX_SERVER_URI5", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI21"];

/// The connection once more, to be watched; `None`: it is none over TCP.
pub(super) fn connection() -> Option<OwnedFd> {
    let told: Vec<SocketAddr> =
        ADDRESSES.iter().filter_map(|name| std::env::var(name).ok()).filter_map(|uri| address(&uri)).collect();
    let found = tcp::connections().into_iter().find(|connection| {
        told.iter().any(|address| connection.peer == (address.ip().to_canonical(), address.port()))
    })?;
    mmap::duplicate_raw(found.fd)
}

fn address(uri: &str) -> Option<SocketAddr> {
    let (_, place) = uri.split_once("://")?;
    place.split([';', ',']).next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        let v4 = Some("127.0.0.1:40123".parse().unwrap());
        assert_eq!(address("pmix-server.77;tcp4://127.0.0.1:40123"), v4);
        assert_eq!(address("prterun-a-1@0.0;tcp6://[fe80::1]:7"), Some("[fe80::1]:7".parse().unwrap()));
        assert_eq!(address("ns.0;tcp4://127.0.0.1:40123;tcp4://10.0.0.1:40123"), v4);
        assert_eq!(address("ns.0;usock://tmp/pmix-77"), None);
        assert_eq!(address(""), None);
    }
}

//! The ring of hosts under another's launcher: who of a host listens where, and whom it connects to.
//!
//! The ring is joined right after the PEs have met for the first time, before the network is opened: a host that is
//! lost from then on is missed, also by those that wait for it to come to the second meeting, for which launchers have
//! no limit.

use super::ring::{Host, HostRing, Listener};
use super::wireup::Wireup;
use crate::base::{Fault, env};
use crate::os::{host, interface, process};
use std::net::IpAddr;

/// Under this key the first PE of a host publishes where the host before it connects; empty: nowhere.
const RING: &str = "ring";

/// Where the host before this one will find this PE, if it is the first of its host: published for all to read after
/// the next fence. A job runs on without.
pub(super) fn listen(wireup: &dyn Wireup) -> Result<Option<Listener>, Fault> {
    if !has_neighbours(wireup) {
        return Ok(None);
    }
    let listener = address().and_then(|address| Listener::new(address).ok());
    let value = listener.as_ref().map(Listener::contact);
    wireup.publish(RING, &value.unwrap_or_default())?;
    Ok(listener)
}

/// Connects this host with the next one, after the fence.
pub(super) fn close_ring(wireup: &dyn Wireup, listener: Option<Listener>) -> Option<HostRing> {
    if !has_neighbours(wireup) {
        return None;
    }
    let local = wireup.local();
    let next = if local.end < wireup.npes() { local.end } else { 0 };
    let own = Host { pe: local.start, pes: local.end - local.start, name: process::host_name() };
    let mut ring = HostRing::new(listener, own, wireup.lookup(next, RING).ok()?);
    // Before anything else: this PE may end at any time.
    ring.join();
    Some(ring)
}

/// Whether this PE is the first of its host, and there are more hosts.
fn has_neighbours(wireup: &dyn Wireup) -> bool {
    let local = wireup.local();
    wireup.pe() == local.start && local.len() < wireup.npes() as usize
}

/// Where other hosts are likely to reach this one. The network is not open yet: what it will use is not known.
fn address() -> Option<IpAddr> {
    let asked = env::lookup("OFI_INTERFACE").map(|(_, value)| value);
    // Where `srun` runs, which talks to all nodes of the job.
    let launcher = std::env::var("SLURM_LAUNCH_NODE_IPADDR").ok().and_then(|text| text.parse().ok());
    let mut likely: Vec<IpAddr> = launcher.and_then(interface::towards).into_iter().collect();
    likely.extend(host::addresses(&process::host_name()));
    likeliest(asked.as_deref(), &likely, &interface::addresses())
}

/// Of `all` interfaces and addresses the one that is asked for by name or address, else the first of those `likely`
/// that is one of them, else the first. Never the loopback, unless it is asked for.
fn likeliest(asked: Option<&str>, likely: &[IpAddr], all: &[(String, IpAddr)]) -> Option<IpAddr> {
    let is_asked = |(name, address): &&(String, IpAddr)| {
        asked.is_some_and(|asked| name == asked || asked.parse().is_ok_and(|asked: IpAddr| asked == *address))
    };
    if let Some((_, address)) = all.iter().find(is_asked) {
        return Some(*address);
    }
    let mut outside = all.iter().map(|(_, address)| *address).filter(|address| !address.is_loopback());
    let known: Vec<IpAddr> = outside.clone().collect();
    likely.iter().copied().find(|address| known.contains(address)).or_else(|| outside.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_others_reach_is_taken() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let all = [("eth1", "10.0.2.15"), ("eth0", "10.79.0.1"), ("eth0", "fd00::1"), ("lo", "127.0.0.1")];
        let all = all.map(|(name, address)| (name.to_owned(), ip(address)));
        for (asked, likely, expected) in [
            (Some("eth0"), &["10.0.2.15"][..], "10.79.0.1"),
            (Some("fd00::1"), &[], "fd00::1"),
            (Some("lo"), &[], "127.0.0.1"),
            // A card that has another name.
            (Some("mlx5_0"), &["10.79.0.1"], "10.79.0.1"),
            // What a name means on some systems.
            (None, &["127.0.1.1", "127.0.0.1"], "10.0.2.15"),
            (None, &["192.0.2.1", "10.79.0.1"], "10.79.0.1"),
        ] {
            let likely: Vec<IpAddr> = likely.iter().map(|text| ip(text)).collect();
            assert_eq!(likeliest(asked, &likely, &all), Some(ip(expected)), "{asked:?}, {likely:?}");
        }
        assert_eq!(likeliest(None, &[ip("127.0.0.1")], &all[3..]), None);
    }
}

//! Hosts that have gone without a word: a cable that is pulled, a switch or a machine that loses its power.
//!
//! A provider that drives a network card hears of it from the card. One over TCP does not: the kernel goes on sending
//! for a quarter of an hour. But the kernel also knows for how long nobody has answered, and asks the other end where
//! nothing else is said: so the progress thread looks at what it knows of connections to hosts of the job. Kernels
//! answer for processes that are stopped or slow, hence silence is the network's or the host's, never the program's.

use crate::os::tcp::{self, Connection, TcpState};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks; more where looking takes long.
const PERIOD: Duration = Duration::from_millis(500);
/// The share of its time that looking may take: one part of so many.
const SHARE: u32 = 200;
/// A host that has not answered for so long is lost. TCP has asked five times by then.
const SILENCE: Duration = Duration::from_millis(6500);
/// Where more than this is between two looks, this process did not run, and has not seen anything.
const ASLEEP: Duration = Duration::from_secs(3);

/// The hosts of PEs that are known, by the addresses that these publish: a PE of each, and the host's name.
#[derive(Debug, Default)]
pub(super) struct Hosts(Mutex<HashMap<IpAddr, (u32, String)>>);

impl Hosts {
    /// A PE is known by its endpoint's name.
    pub fn add(&self, pe: u32, endpoint: &[u8], host: &str) {
        let Some((ip, _)) = tcp::decode(endpoint) else { return };
        // Whoever shares this host's loopback can only be lost with it.
        if !ip.is_loopback() {
            let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            hosts.entry(ip).or_insert_with(|| (pe, host.to_owned()));
        }
    }

    /// The address of a PE, where its host was not known by another PE's before.
    pub fn address_of(&self, pe: u32) -> Option<IpAddr> {
        let hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.iter().find(|(_, (known, _))| *known == pe).map(|(ip, _)| *ip)
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// A PE and the name of the host of an address.
    fn get(&self, ip: IpAddr) -> Option<(u32, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&ip).cloned()
    }
}

/// A host that is lost.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// A PE there.
    pub pe: u32,
    /// Its name.
    pub host: String,
    /// How long it has not answered.
    pub silent: Duration,
}

/// What was seen of connections so far.
pub(super) struct HostLiveness {
    next: Instant,
    last: Instant,
    /// Connections to hosts of the job; those that wait for an answer, since when.
    waiting: HashMap<Connection, Option<Instant>>,
}

impl HostLiveness {
    pub fn new() -> Self {
        let now = Instant::now();
        Self { next: now + PERIOD, last: now, waiting: HashMap::new() }
    }

    /// Looks, where it is time to. Gives a host that is lost.
    pub fn look(&mut self, hosts: &Hosts) -> Option<Lost> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        let lost = if hosts.is_empty() { None } else { self.look_at(now, hosts) };
        let took = now.elapsed();
        self.last = now;
        self.next = now + PERIOD.max(took * SHARE);
        lost
    }

    fn look_at(&mut self, now: Instant, hosts: &Hosts) -> Option<Lost> {
        if now.duration_since(self.last) > ASLEEP {
            self.waiting.values_mut().for_each(|since| *since = None);
        }
        let mut lost = None;
        let mut waiting = HashMap::new();
        for connection in tcp::connections() {
            let Some((pe, host)) = hosts.get(connection.peer.0) else { continue };
            let before = self.waiting.get(&connection);
            if before.is_none() {
                tcp::keep_alive(connection.fd);
            }
            let Some(state) = tcp::state(connection.fd) else { continue };
            let since = waiting_since(state, before.copied().flatten(), now);
            if let Some(silent) = since.map(|since| now.duration_since(since)).filter(|silent| *silent >= SILENCE) {
                lost = Some(Lost { pe, host, silent });
            }
            waiting.insert(connection, since);
        }
        self.waiting = waiting;
        lost
    }
}

/// Since when a connection waits for an answer, if it does; `before`: what was the case at the last look. How long
/// nothing has come is no measure by itself: perhaps nobody had anything to say.
fn waiting_since(state: TcpState, before: Option<Instant>, now: Instant) -> Option<Instant> {
    let since = before.filter(|since| state.silent >= now.duration_since(*since));
    state.waits.then(|| since.unwrap_or(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_silence_after_a_question_counts() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let state = |waits, ms| TcpState { waits, silent: Duration::from_millis(ms) };
        // Nothing was said for an hour, and now something is.
        assert_eq!(waiting_since(state(false, 3_600_000), None, at(0)), None);
        assert_eq!(waiting_since(state(true, 3_600_000), None, at(0)), Some(at(0)));
        assert_eq!(waiting_since(state(true, 3_600_500), Some(at(0)), at(500)), Some(at(0)));
        // An answer came in between; the next question waits already.
        assert_eq!(waiting_since(state(true, 100), Some(at(0)), at(1000)), Some(at(1000)));
        assert_eq!(waiting_since(state(false, 100), Some(at(0)), at(1000)), None);
    }

    #[test]
    fn a_host_has_one_name_and_loopback_none() {
        let hosts = Hosts::default();
        let endpoint = |ip: [u8; 4]| {
            let mut bytes = vec![0; 16];
            bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
            bytes[4..8].copy_from_slice(&ip);
            bytes
        };
        hosts.add(0, &endpoint([127, 0, 0, 1]), "here");
        hosts.add(0, b"fi_shm://7", "here");
        assert!(hosts.is_empty());
        hosts.add(2, &endpoint([10, 77, 0, 2]), "b");
        hosts.add(3, &endpoint([10, 77, 0, 2]), "b");
        assert_eq!(hosts.get("10.77.0.2".parse().unwrap()), Some((2, "b".to_owned())));
        assert_eq!(hosts.get("10.77.0.3".parse().unwrap()), None);
    }
}

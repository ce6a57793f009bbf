//! The addresses of this host at which daemons of other hosts are to connect.

use super::agent;
use crate::sys::net;
use crate::sys::signal::Set;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many names are resolved at a time.
const AT_A_TIME: usize = 32;
/// How long names are waited for, all together: a resolver that does not answer keeps a program for 10 s or more for
/// each name. Where nothing is known of a name, its host gets all addresses.
const RESOLVED: Duration = Duration::from_secs(3);

/// What is known of each host.
pub struct Addresses(HashMap<String, Vec<IpAddr>>);

impl Addresses {
    /// Resolves the names, each once and many at a time. `agent`: a launch agent was named. Threads may be left
    /// that wait for a resolver.
    pub fn find<'a>(agent: bool, hosts: impl Iterator<Item = &'a str>) -> Self {
        let names: HashSet<&str> = hosts.collect();
        let towards = resolve(names.iter().map(|name| name.to_string()).collect());
        let all = net::addresses();
        Self(names.into_iter().map(|name| (name.to_owned(), of(agent, name, &all, towards.get(name)))).collect())
    }

    /// Those for one host, the likeliest first.
    pub fn of(&self, host: &str) -> &[IpAddr] {
        self.0.get(host).map_or(&[], Vec::as_slice)
    }

    /// Those for any host.
    pub fn all(&self) -> impl Iterator<Item = IpAddr> {
        self.0.values().flatten().copied()
    }
}

/// From which addresses this host would talk to those of these names that are resolved in time.
fn resolve(names: Vec<String>) -> HashMap<String, Vec<IpAddr>> {
    let (count, until) = (names.len(), Instant::now() + RESOLVED);
    let names = Arc::new(Mutex::new(names));
    let (found, results) = mpsc::channel();
    for _ in 0..count.min(AT_A_TIME) {
        let (names, found) = (Arc::clone(&names), found.clone());
        let work = move || {
            Set::all().mask();
            let next = || names.lock().unwrap_or_else(PoisonError::into_inner).pop();
            while let Some(name) = next() {
                let towards = net::towards(&name);
                if found.send((name, towards)).is_err() {
                    break;
                }
            }
        };
        // Where there can be no further thread, those that are there do more.
        let _ = thread::Builder::new().name("oshrun-names".into()).spawn(work);
    }
    drop(found);
    let mut resolved = HashMap::new();
    while let Ok((name, towards)) = results.recv_timeout(until.saturating_duration_since(Instant::now())) {
        resolved.insert(name, towards);
    }
    resolved
}

/// The addresses of this host at which the part of a host is to connect, the likeliest first: those from which this
/// host would talk to it; all of them (`all`) where the name of the host says nothing here, since only the agent knows
/// where it leads.
fn of(agent: bool, host: &str, all: &[IpAddr], towards: Option<&Vec<IpAddr>>) -> Vec<IpAddr> {
    let loopback = || all.iter().copied().filter(IpAddr::is_loopback);
    let mut towards = towards.cloned().unwrap_or_default();
    if !agent && agent::is_here(host) {
        // The daemon is a child of this process.
        towards = loopback().collect();
    }
    let is_address = host.parse::<IpAddr>().is_ok();
    let here = agent::is_here(host) && !is_address || towards.iter().any(IpAddr::is_loopback);
    if !here && !towards.is_empty() {
        return towards;
    }
    if !agent && !towards.is_empty() {
        return loopback().collect();
    }
    // An agent may give names a meaning of its own. Loopback addresses mean somebody else on another host.
    towards.extend(all.iter().filter(|address| here || !address.is_loopback()));
    if towards.is_empty() {
        towards.extend(loopback());
    }
    let mut seen = HashSet::new();
    towards.retain(|address| seen.insert(*address));
    towards
}

#[cfg(test)]
mod tests {
    use super::*;
    use pellucid_core::os::process::host_name;

    #[test]
    fn a_host_gets_the_addresses_that_lead_to_it() {
        let name = host_name();
        let here = ["localhost", &name, "127.0.0.1"];
        // Nobody here knows the last one: all addresses of use to others.
        let found = Addresses::find(false, here.into_iter().chain(["no-such-host.invalid"]));
        for host in here {
            assert!(!found.of(host).is_empty() && found.of(host).iter().all(IpAddr::is_loopback), "{host}");
        }
        let others: Vec<IpAddr> = net::addresses().into_iter().filter(|address| !address.is_loopback()).collect();
        if !others.is_empty() {
            assert_eq!(found.of("no-such-host.invalid"), others);
        }
        assert!(found.all().any(|address| address.is_loopback()));
        assert!(found.of("another").is_empty());
        let found = Addresses::find(true, ["localhost"].into_iter());
        assert!(found.of("localhost").iter().any(IpAddr::is_loopback));
    }

    #[test]
    fn many_names_are_resolved() {
        let names: Vec<String> = (1..=100).map(|host| format!("127.0.0.{host}")).collect();
        let resolved = resolve(names.clone());
        assert!(names.iter().all(|name| resolved[name] == [IpAddr::from([127, 0, 0, 1])]), "{resolved:?}");
    }
}

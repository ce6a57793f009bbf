//! What the network says of itself: operations, retries, bytes. Whoever has a network publishes its numbers.

use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::claim;
use super::names::locked;

/// Publishes numbers by calling what it is given with a name and a value each.
pub type NetworkCounters = fn(&mut dyn FnMut(&str, u64));

static SOURCE: OnceLock<NetworkCounters> = OnceLock::new();

/// From now on this one is asked at each snapshot and at finalization. Once a process.
pub fn network_source(source: NetworkCounters) {
    let _ = SOURCE.set(source);
}

/// Publishes numbers of the network, each under a name of at most 31 bytes: it replaces what was published under that
/// name. Names beyond the table of the profile are left out. May be called at any time.
pub fn publish_network(numbers: &[(&str, u64)]) {
    let Some(region) = claim::region() else { return };
    let _ = locked(&region.names, |names| {
        for (name, value) in numbers {
            let row = names.network.iter().find(|row| {
                let found = row.name.get();
                found.is_empty() || found == *name
            });
            if let Some(row) = row {
                row.value.store(*value, Relaxed);
                row.name.set(name);
            }
        }
    });
}

/// Asks the source.
pub(super) fn refresh() {
    if let Some(source) = SOURCE.get() {
        source(&mut |name, value| publish_network(&[(name, value)]));
    }
}

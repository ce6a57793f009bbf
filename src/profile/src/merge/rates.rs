//! How fast puts, gets and atomics were, over all PEs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::Pe;
use crate::size::Distance;
use crate::tables::Rate;

/// Time that the PEs of a host spend in calls of a routine and size to PEs of other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteTime {
    /// The host that they are called on.
    pub host: Arc<str>,
    /// C name.
    pub routine: Arc<str>,
    /// Size class ([`crate::size`]).
    pub class: u8,
    /// Calls that were timed, and those that samples stand for.
    pub calls: u64,
    /// Their time in nanoseconds.
    pub ns: u64,
}

impl RemoteTime {
    /// Mean time of a call in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.ns as f64 / self.calls.max(1) as f64
    }
}

/// By routine, size class and distance; what goes to other hosts by the host that it comes from as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rates {
    all: BTreeMap<(String, u8, u8), Rate>,
    /// Calls and time, by host, routine and size class.
    remote: BTreeMap<(String, String, u8), (u64, u64)>,
}

impl Rates {
    pub(super) fn add(&mut self, pe: &Pe) {
        for rate in &pe.tables.rates {
            self.put(rate.clone());
            if rate.distance == Distance::Remote as u8 {
                self.put_remote((pe.host.clone(), rate.routine.clone(), rate.class), (rate.calls, rate.ns));
            }
        }
    }

    fn put(&mut self, rate: Rate) {
        let key = (rate.routine.clone(), rate.class, rate.distance);
        match self.all.get_mut(&key) {
            Some(known) => known.add(&rate),
            None => _ = self.all.insert(key, rate),
        }
    }

    fn put_remote(&mut self, key: (String, String, u8), (calls, ns): (u64, u64)) {
        let sum = self.remote.entry(key).or_default();
        *sum = (sum.0.saturating_add(calls), sum.1.saturating_add(ns));
    }

    pub(super) fn join(&mut self, other: Rates) {
        other.all.into_values().for_each(|rate| self.put(rate));
        other.remote.into_iter().for_each(|(key, sum)| self.put_remote(key, sum));
    }

    pub(super) fn finish(self) -> (Vec<Rate>, Vec<RemoteTime>) {
        let remote = |((host, routine, class), (calls, ns)): ((String, String, u8), (u64, u64))| RemoteTime {
            host: host.into(),
            routine: routine.into(),
            class,
            calls,
            ns,
        };
        (self.all.into_values().collect(), self.remote.into_iter().map(remote).collect())
    }
}

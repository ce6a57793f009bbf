//! What else differs between two sides: latencies, nonblocking operations, counters of the processor and of the
//! network. It explains, and decides nothing.

use std::collections::BTreeMap;

use pellucid_profile::counters::KNOWN;
use pellucid_profile::merge::{Around, Merged};
use pellucid_profile::report::shown_time;

use super::run::Run;
use crate::stats::median;

/// How many times more or less a value has to be.
const FACTOR: f64 = 1.25;
/// Remarks at most.
const MOST: usize = 10;
/// Calls of a routine from which on its latencies are told.
const CALLS: u64 = 20;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A quantile of a routine's latency, in nanoseconds.
    Latency,
    /// Nonblocking operations: the share of their time that a completing call took.
    Nonblocking,
    /// What a counter counted in a call of a routine, as a mean.
    Counter,
    /// What the network says of itself, over all PEs.
    Network,
}

impl Kind {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Latency => "latency",
            Kind::Nonblocking => "nonblocking",
            Kind::Counter => "counter",
            Kind::Network => "network",
        }
    }

    fn shown(self, value: f64) -> String {
        match self {
            Kind::Latency => shown_time(value.round()),
            Kind::Nonblocking => format!("{:.1} %", 100.0 * value),
            Kind::Counter => format!("{value:.1}"),
            Kind::Network => format!("{value:.0}"),
        }
    }
}

/// Values of a run, by kind and name.
pub type Values = BTreeMap<(Kind, String), f64>;

/// What a profile has of them.
pub fn values(merged: &Merged) -> Values {
    let mut values = Values::new();
    for routine in merged.routines.iter().filter(|routine| routine.all_calls() >= CALLS && routine.total_ns > 0) {
        for (name, q) in [("median", 0.5), ("99th percentile", 0.99)] {
            let ns = routine.quantile_ns(q);
            if ns > 0 {
                values.insert((Kind::Latency, format!("{name} of {}", routine.name)), ns as f64);
            }
        }
    }
    let sum =
        |of: fn(&pellucid_profile::merge::PeRow) -> u64| merged.pes.iter().map(of).fold(0_u64, u64::saturating_add);
    let (in_flight, blocked) = (sum(|pe| pe.nbi.ns), sum(|pe| pe.nbi.blocked_ns));
    if in_flight > 0 {
        let name = "waited for by the completing call, of the time of nonblocking operations".to_owned();
        values.insert((Kind::Nonblocking, name), blocked as f64 / in_flight as f64);
    }
    for ((rank, around, routine), sum) in &merged.counters.sums {
        if let (Around::Routine, Some(calls @ 1..)) = (around, sum.calls) {
            let counter = KNOWN.get(*rank).map_or("counter", |known| known.name);
            values
                .insert((Kind::Counter, format!("{counter} in a call of {routine}")), sum.value as f64 / calls as f64);
        }
    }
    for (name, sum) in &merged.network {
        values.insert((Kind::Network, name.clone()), sum.total as f64);
    }
    values
}

/// A value that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Median of the base.
    pub base: f64,
    /// Median of the new side.
    pub new: f64,
}

impl Remark {
    /// For people.
    pub fn text(&self) -> String {
        format!("{}: {} -> {}", self.name, self.kind.shown(self.base), self.kind.shown(self.new))
    }
}

/// What both sides have, and no run of one has like a run of the other; the most different first.
pub fn find(base: &[&Run], new: &[&Run]) -> Vec<Remark> {
    let Some(first) = base.first() else { return Vec::new() };
    let mut found: Vec<(f64, Remark)> = Vec::new();
    for key in first.values.keys() {
        let of = |runs: &[&Run]| -> Option<Vec<f64>> { runs.iter().map(|run| run.values.get(key).copied()).collect() };
        let (Some(old), Some(now)) = (of(base), of(new)) else { continue };
        let ends = |list: &[f64]| list.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
        let ((least, most), (now_least, now_most)) = (ends(&old), ends(&now));
        let (old, now) = (median(&old), median(&now));
        let ratio = ((now + 1e-9) / (old + 1e-9)).ln().abs();
        if (now_least > most || now_most < least) && ratio > FACTOR.ln() {
            found.push((ratio, Remark { kind: key.0, name: key.1.clone(), base: old, new: now }));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().map(|(_, remark)| remark).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_every_run_is_told() {
        let run = |latency: f64, share: f64, misses: f64| {
            let names = [(Kind::Latency, "median of a"), (Kind::Nonblocking, "share"), (Kind::Counter, "misses")];
            let values = names.map(|(kind, name)| (kind, name.to_owned())).into_iter().zip([latency, share, misses]);
            Run { values: values.collect(), ..Run::default() }
        };
        let (base, new) = ([run(100.0, 0.1, 5.0), run(120.0, 0.2, 5.0)], [run(110.0, 0.5, 5.5), run(300.0, 0.6, 6.0)]);
        let found = find(&base.each_ref(), &new.each_ref());
        let texts: Vec<String> = found.iter().map(Remark::text).collect();
        assert_eq!(texts, ["share: 15.0 % -> 55.0 %"], "latencies meet, misses are hardly more");
        assert_eq!(find(&[], &new.each_ref()), []);
    }
}

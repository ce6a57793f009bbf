//! One host whose transfers over the network take much longer than those of the others.

use std::collections::BTreeMap;

use crate::merge::{Merged, PeRow, RemoteTime};
use crate::report::{shown_bytes, shown_time};
use crate::size::size_bounds;

use super::{Case, Finding, costliest, run_ns};

/// Hosts from which on one can be told from the others.
const HOSTS: usize = 3;
/// Calls of each host before their mean says something.
const MANY: u64 = 100;
/// How much longer than those of the next host its calls have to take. Those of the others that go to the slow one
/// take as long, so that the mean of the others is more than that of a sound link.
const LONGER: f64 = 1.5;
/// What its calls have to take more, in nanoseconds: below, it is as likely the machine's noise.
const LEAST_NS: f64 = 20e6;
/// Share of the run that these calls have to take.
const DOMINATES: f64 = 0.10;

/// A host that is slower than all others, for calls of a routine of one size.
struct Slow<'p> {
    of: &'p RemoteTime,
    /// How long a call of the next host takes in the mean, in nanoseconds.
    next_ns: f64,
    /// Time in these calls on all hosts.
    all_ns: f64,
}

impl Slow<'_> {
    fn more_ns(&self) -> f64 {
        self.of.ns as f64 - self.of.calls as f64 * self.next_ns
    }
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let mut kinds: BTreeMap<(&str, u8), Vec<&RemoteTime>> = BTreeMap::new();
    profile.remote_times.iter().for_each(|of| kinds.entry((&*of.routine, of.class)).or_default().push(of));
    let slow = kinds.into_values().filter_map(slow).max_by(|a, b| a.all_ns.total_cmp(&b.all_ns))?;
    let share = slow.all_ns / run_ns(profile);
    if share < DOMINATES || stood_in_line(profile, &slow) {
        return None;
    }
    let RemoteTime { host, routine, class, .. } = slow.of;
    let (mean, next) = (slow.of.mean_ns(), slow.next_ns);
    Some(Finding {
        what: format!(
            "transfers of PEs on {host} to other hosts take {:.1} times as long as those of any other host",
            mean / next
        ),
        evidence: format!(
            "{routine} of {} and more: {} each, of the next host {}; {} in all of these{}",
            shown_bytes(size_bounds(usize::from(*class)).0),
            shown_time(mean),
            shown_time(next),
            shown_time(slow.all_ns),
            costliest(profile, |name| name == &**routine)
        ),
        try_this: "look at that host's link: its speed, its errors, and who else uses it; PEs that exchange most \
                   belong to other hosts, or to one",
        share,
    })
}

/// The host whose calls of a kind take much longer than those of each other one.
fn slow(mut hosts: Vec<&RemoteTime>) -> Option<Slow<'_>> {
    hosts.sort_by(|a, b| b.mean_ns().total_cmp(&a.mean_ns()));
    let [of, next, ..] = hosts[..] else { return None };
    let all_ns = hosts.iter().map(|of| of.ns as f64).sum();
    let slow = Slow { of, next_ns: next.mean_ns(), all_ns };
    let is_known = hosts.len() >= HOSTS && hosts.iter().all(|of| of.calls >= MANY);
    (is_known && of.mean_ns() >= LONGER * slow.next_ns && slow.more_ns() >= LEAST_NS).then_some(slow)
}

/// Whether PEs of the slow host stood in line for a core more than the others, for a good part of what their calls took
/// more.
fn stood_in_line(profile: &Merged, slow: &Slow<'_>) -> bool {
    let is_there = |pe: &&PeRow| *pe.host == *slow.of.host;
    let queued = |pe: &PeRow| pe.queued_ns().unwrap_or(0) as f64;
    let there: Vec<f64> = profile.pes.iter().filter(is_there).map(queued).collect();
    let others: Vec<f64> = profile.pes.iter().filter(|pe| !is_there(pe)).map(queued).collect();
    let mean = others.iter().sum::<f64>() / others.len().max(1) as f64;
    there.iter().sum::<f64>() - mean * there.len() as f64 > slow.more_ns() / 2.0
}

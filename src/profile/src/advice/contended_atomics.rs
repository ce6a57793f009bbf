//! Atomics of many PEs that meet at one.

use std::collections::BTreeMap;

use crate::merge::is_ask;
use crate::model::Routine;
use crate::op::Class;
use crate::report::{shown_count, shown_time};

use super::room::{is_transfer, room};
use super::{Case, Finding, core_ns, costliest, polling, shown_sum, sum, usual_sum};

/// Share of the atomics that have to go to one PE.
const MOST: f64 = 0.9;
/// Share of the run that atomics have to take.
const DOMINATES: f64 = 0.10;
/// Calls of a PE before they are many.
const MANY: u64 = 10_000;
/// Time of an atomic operation that others are after, too, as half of them take at most, in nanoseconds: twice what one
/// takes on a line that is in the PE's own cache. The mean is longer where a few lose their core.
const LONG_NS: f64 = 12.0;
/// The same where PEs can hardly but meet there: cores that share a cache hand a line over in less.
const LONG_TOGETHER_NS: f64 = 8.0;
/// Share of the run in atomics from which on they can hardly but meet.
const TOGETHER: f64 = 0.5;
/// What such an operation takes at least.
const ALONE_NS: f64 = 4.0;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let is_atomic = |r: &Routine| r.class == Class::Amo && !is_ask(r);
    let (calls, ns) = usual_sum(profile, is_atomic);
    let (asks, _) = sum(profile, |r| r.class == Class::Amo && is_ask(r));
    let mut of: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for (_, to) in profile.pairs.iter().filter(|(_, to)| to.amo.calls > 0) {
        if let Some(target) = to.pe {
            let sum = of.entry(target).or_default();
            *sum = (sum.0.saturating_add(to.amo.calls), sum.1 + 1);
        }
    }
    let (&pe, &(most, from)) = of.iter().max_by_key(|(pe, of)| (of.0, std::cmp::Reverse(**pe)))?;
    let share = (ns / core_ns(profile)).min(1.0);
    let mean = ns / calls.max(1) as f64;
    let many = calls / (profile.pes.len() as u64).max(1) >= MANY;
    // Those who ask for a value again and again are another rule's, and what makes its line move.
    if asks >= calls
        || polling::is_most(profile)
        || from < 2
        || !many
        || (most as f64) < MOST * calls as f64
        || mean < if share < TOGETHER { LONG_NS } else { LONG_TOGETHER_NS }
    {
        return None;
    }
    let room = room(profile, is_transfer);
    if share.min(room) < DOMINATES {
        return None;
    }
    Some(Finding {
        what: format!("{from} PEs work on the atomics of PE {pe}: {} calls of {}", shown_count(most), shown_time(mean)),
        evidence: format!(
            "{} in atomics over all PEs{}",
            shown_sum(profile, is_atomic),
            costliest(profile, |name| name.contains("_atomic_"))
        ),
        try_this: "count in a variable of each PE and add up at the end; take many numbers with one \
                   shmem_atomic_fetch_add",
        share: (share * (1.0 - ALONE_NS / mean)).min(room),
    })
}

//! PEs that stand in line for a lock.

use crate::merge::Merged;
use crate::op::Class;
use crate::report::{shown_count, shown_time};
use crate::tables::Lock;

use super::room::room;
use super::{Case, Finding, costliest, run_ns, sum};

/// Share of the run that locks have to take.
const DOMINATES: f64 = 0.10;
const MANY: u64 = 100;

/// Of the time that locks are held, what one PE has them for to be named: of two, one always has them longer.
const HOLDS: f64 = 0.6;

/// Who has the locks for most of the time that they are held, and how long.
fn holder(profile: &Merged) -> String {
    let held: u64 = profile.pes.iter().map(|pe| pe.held_ns).fold(0, u64::saturating_add);
    let most = profile.pes.iter().max_by_key(|pe| (pe.held_ns, std::cmp::Reverse(pe.pe)));
    let Some(one) = most.filter(|pe| pe.held_ns as f64 > HOLDS * held as f64) else { return String::new() };
    format!("; PE {} holds them for {} of {}", one.pe, shown_time(one.held_ns as f64), shown_time(held as f64))
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let is_set = Lock::is_waited_for_in;
    let (calls, ns) = sum(profile, |r| r.class == Class::Lock && is_set(&r.name));
    // While one PE hardly waits, the run takes what that one does, under the lock or not.
    let share = (ns / run_ns(profile)).min(room(profile, |class| class == Class::Lock));
    if profile.pes.len() < 2 || calls < MANY || share < DOMINATES {
        return None;
    }
    // Where the locks are known one by one: what is waited for is that they are held, or that they change hands.
    let held: u64 = profile.locks.iter().map(|(_, sum)| sum.all.held_ns).fold(0, u64::saturating_add);
    let pes = profile.pes.len().max(1) as f64;
    let is_handover = held > 0 && (held as f64) * (pes - 1.0) < ns / 2.0;
    Some(Finding {
        what: format!("PEs stand in line for locks: {} in shmem_set_lock", shown_time(ns)),
        evidence: format!(
            "{} calls, {} each in the mean{}{}",
            shown_count(calls),
            shown_time(ns / calls.max(1) as f64),
            holder(profile),
            costliest(profile, is_set)
        ),
        try_this: if is_handover {
            "they are held for little of it: most is handing them over. Take a lock once for several updates; an \
             atomic operation in place of lock and update; one lock for each part of the data"
        } else {
            "do less while holding the lock; one lock for each part of the data; an atomic operation in place of lock \
             and update"
        },
        share,
    })
}

//! Barriers around next to nothing.

use crate::op::{Class, class_of};
use crate::report::{shown_bytes, shown_count, shown_time};

use super::{Case, Finding, costliest, have_pointers, run_ns, sum, usual_sum};

/// Barriers of a PE from which on they are a habit.
const MANY: u64 = 1000;
/// Share of the run that barriers have to take.
const DOMINATES: f64 = 0.10;
/// Bytes a PE sends between two barriers, below which these are not worth it.
const FEW_BYTES: u64 = 256;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (barriers, ns) = sum(profile, |r| r.class == Class::Barrier);
    let pes = (profile.pes.len() as u64).max(1);
    let bytes = profile.routines.iter().map(|r| r.traffic_bytes()).fold(0, u64::saturating_add);
    // What is waited for PEs that come late is waited without barriers, too.
    let late = profile.lost_to_late_ns(|routine| class_of(routine) == Some(Class::Barrier));
    // Barriers alone take each PE as long: what one waits longer than the one that waits least, it waits for late PEs.
    let waits = profile.pes.iter().map(|pe| pe.time_ns(|class| class == Class::Barrier));
    let least = waits.clone().min().unwrap_or(0);
    let late = late.max(waits.map(|ns| ns - least).fold(0, u64::saturating_add));
    // What barriers cost is what half of them take at most: others take longer for late PEs, or for cores.
    let (_, usual) = usual_sum(profile, |r| r.class == Class::Barrier);
    let ns = (ns - late as f64).max(0.0).min(usual);
    let share = ns / run_ns(profile);
    let each = bytes / barriers.max(1);
    // What is copied through pointers is not counted.
    if pes < 2 || barriers / pes < MANY || share < DOMINATES || each >= FEW_BYTES || have_pointers(profile) {
        return None;
    }
    // Where fewer PEs could meet, that comes first.
    if super::larger_team::find(profile).is_some() {
        return None;
    }
    let (syncs, _) = sum(profile, |r| r.class == Class::Barrier && r.name.contains("sync"));
    Some(Finding {
        what: format!(
            "barriers around little: {} a PE, {} sent between two of them",
            shown_count(barriers / pes),
            shown_bytes(each)
        ),
        evidence: format!(
            "{} in barriers over all PEs, without waiting for those that come late{}",
            shown_time(ns),
            costliest(profile, |name| name.contains("barrier") || name.contains("sync"))
        ),
        try_this: if 2 * syncs >= barriers {
            "tell those who need the data by shmem_put_signal; do more between two of them"
        } else {
            "tell those who need the data by shmem_put_signal; exchange more between two barriers; shmem_sync where \
             nothing has to be completed"
        },
        share,
    })
}

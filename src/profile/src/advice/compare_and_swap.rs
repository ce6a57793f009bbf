//! Updates as a read and a compare-and-swap, which one atomic operation could make.

use crate::merge::{Merged, is_ask};
use crate::model::Routine;
use crate::op::Class;
use crate::report::{Symbols, shown_count, shown_time};

use super::{Finding, WORTH, core_ns, costliest, sum};

/// Compare-and-swaps of a PE before they are many.
const MANY: u64 = 1000;
/// Share of the run that both have to take.
const DOMINATES: f64 = 0.10;

pub(super) fn is_swap(name: &str) -> bool {
    name.contains("_compare_swap") || name.ends_with("_cswap")
}

/// A read of one element that waits for it.
fn is_read(r: &Routine) -> bool {
    (r.class == Class::Get && r.name.ends_with("_g")) || (r.class == Class::Amo && is_ask(r))
}

/// Whether about as many elements are read as are swapped: reads that are others' rules where they are not.
pub(super) fn is_fed_by(profile: &Merged, reads: u64) -> bool {
    let (swaps, _) = sum(profile, |r| is_swap(&r.name));
    swaps > 0 && (0.5..=2.0).contains(&(reads as f64 / swaps as f64))
}

/// Whether about as many values are read as are swapped.
pub(super) fn are_fed(profile: &Merged) -> bool {
    is_fed_by(profile, sum(profile, is_read).0)
}

/// Whether swaps, and what they are of, are most of so many transfers.
pub(super) fn are_most(profile: &Merged, transfers: u64) -> bool {
    let (swaps, _) = sum(profile, |r| is_swap(&r.name));
    let (reads, _) = sum(profile, is_read);
    are_fed(profile) && 2 * (swaps + reads) >= transfers
}

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let (swaps, swap_ns) = sum(profile, |r| is_swap(&r.name));
    let (reads, read_ns) = sum(profile, is_read);
    let share = ((swap_ns + read_ns) / core_ns(profile)).min(1.0);
    let many = swaps / (profile.pes.len() as u64).max(1) >= MANY;
    if !many || !is_fed_by(profile, reads) || share < DOMINATES {
        return None;
    }
    // On one host an atomic operation takes what a swap does; over a network nobody waits for it.
    let goes = if profile.network.is_empty() { read_ns } else { read_ns + swap_ns };
    Some(Finding {
        what: format!("{} compare-and-swaps, each of a value read before", shown_count(swaps)),
        evidence: format!(
            "{} in them and {} in {} reads over all PEs{}",
            shown_time(swap_ns),
            shown_time(read_ns),
            shown_count(reads),
            costliest(profile, symbols, is_swap)
        ),
        try_this: "where it adds, combines bits or replaces: shmem_atomic_add, _fetch_add, _and, _or, _xor or _swap, \
                   which read nothing first and never have to try again",
        share: (goes / core_ns(profile)).clamp(WORTH, 1.0),
    })
}

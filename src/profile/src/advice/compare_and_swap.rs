//! Updates as a read and a compare-and-swap, which one atomic operation could make.

use crate::merge::{Merged, is_element_read};
use crate::op;
use crate::report::shown_count;

use super::{Case, Finding, WORTH, core_ns, costliest, polling, shown_sum, sum};

/// Compare-and-swaps of a PE before they are many.
const MANY: u64 = 1000;
/// Share of the run that both have to take.
const DOMINATES: f64 = 0.10;

pub(super) fn is_swap(name: &str) -> bool {
    op::has(name, op::COMPARES)
}

/// Whether about as many elements are read as are swapped, and most by the PEs that swap: reads that are others' rules
/// where they are not.
pub(super) fn is_fed_by(profile: &Merged, reads: u64) -> bool {
    let (swaps, _) = sum(profile, |r| is_swap(&r.name));
    let all: u64 = profile.pes.iter().map(|pe| pe.element_reads).sum();
    let of_swapping: u64 = profile.pes.iter().filter(|pe| pe.compare_swaps > 0).map(|pe| pe.element_reads).sum();
    swaps > 0 && (0.5..=2.0).contains(&(reads as f64 / swaps as f64)) && 2 * of_swapping >= all
}

/// Whether about as many values are read as are swapped.
pub(super) fn are_fed(profile: &Merged) -> bool {
    is_fed_by(profile, sum(profile, is_element_read).0)
}

/// Whether swaps, and what they are of, are most of so many transfers.
pub(super) fn are_most(profile: &Merged, transfers: u64) -> bool {
    let (swaps, _) = sum(profile, |r| is_swap(&r.name));
    let (reads, _) = sum(profile, is_element_read);
    are_fed(profile) && 2 * (swaps + reads) >= transfers
}

/// Whether the swaps are known to be of many words, each of them swapped rarely.
fn is_of_many_words(profile: &Merged) -> bool {
    profile.routines.iter().filter(|r| is_swap(&r.name)).all(|r| polling::is_of_many_words(profile, r))
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (swaps, swap_ns) = sum(profile, |r| is_swap(&r.name));
    let (reads, read_ns) = sum(profile, is_element_read);
    let share = ((swap_ns + read_ns) / core_ns(profile)).min(1.0);
    let many = swaps / (profile.pes.len() as u64).max(1) >= MANY;
    if !many || !is_fed_by(profile, reads) || share < DOMINATES {
        return None;
    }
    // On one host what comes first fetches the word, and what comes second finds it there: an atomic operation takes as
    // long as the longer of both. Over a network nobody waits for it. Where one of them takes nothing, the other is no
    // part of it.
    let less = read_ns.min(swap_ns);
    if less < WORTH * core_ns(profile) {
        return None;
    }
    let goes = if profile.network.is_empty() { less } else { read_ns + swap_ns };
    let share = goes / core_ns(profile);
    Some(Finding {
        what: format!("{} compare-and-swaps, each of a value read before", shown_count(swaps)),
        evidence: format!(
            "{} in them and {} in {} reads over all PEs{}",
            shown_sum(profile, |r| is_swap(&r.name)),
            shown_sum(profile, is_element_read),
            shown_count(reads),
            costliest(profile, |r| is_swap(&r.name))
        ),
        try_this: if is_of_many_words(profile) {
            "where it takes a free place in a table: the compare-and-swap without the read, which says as well what is \
             there; where it adds, combines bits or replaces: shmem_atomic_add, _fetch_add, _and, _or, _xor or _swap"
        } else {
            "where it adds, combines bits or replaces: shmem_atomic_add, _fetch_add, _and, _or, _xor or _swap, which \
             read nothing first and never have to try again"
        },
        share: share.min(1.0),
    })
}

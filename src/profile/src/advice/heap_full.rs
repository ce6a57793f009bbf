//! A symmetric heap that has hardly any room left.

use crate::report::shown_bytes;

use super::{Case, Finding, WORTH};

/// Share of the heap that has to have been in use.
const FULL: f64 = 0.9;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let heap = |pe: &crate::merge::PeRow| (pe.system.heap_most, pe.system.memory[1]);
    let full = profile.pes.iter().filter(|pe| heap(pe).1 > 0 && heap(pe).0 as f64 >= FULL * heap(pe).1 as f64);
    let pe = full.max_by_key(|pe| (heap(pe).0, std::cmp::Reverse(pe.pe)))?;
    let (most, all) = heap(pe);
    Some(Finding {
        what: format!("the symmetric heap of PE {} was nearly full", pe.pe),
        evidence: format!("{} of {} in use at most", shown_bytes(most), shown_bytes(all)),
        try_this: "SHMEM_SYMMETRIC_SIZE gives more; a larger problem on this heap would fail",
        share: WORTH,
    })
}

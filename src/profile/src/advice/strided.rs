//! Strided transfers of tiny elements.

use crate::merge::Merged;
use crate::model::Routine;
use crate::report::{Symbols, is_strided, shown_count};

use super::{Finding, WORTH, core_ns, costliest, shown_sum, sum};

/// Calls of a PE before they are many.
const MANY: u64 = 1000;
/// Bytes of a call below which it is more effort than data.
const SMALL: u64 = 4096;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let of = |r: &Routine| is_strided(&r.name);
    let (calls, ns) = sum(profile, of);
    let bytes = profile.routines.iter().filter(|r| of(r)).map(|r| r.all_bytes()).fold(0, u64::saturating_add);
    let share = (ns / core_ns(profile)).min(1.0);
    if calls / (profile.pes.len() as u64).max(1) < MANY || bytes / calls.max(1) >= SMALL || share < 2.0 * WORTH {
        return None;
    }
    Some(Finding {
        what: format!("{} strided transfers of {} bytes", shown_count(calls), bytes / calls.max(1)),
        evidence: format!("{} in them over all PEs{}", shown_sum(profile, of), costliest(profile, symbols, is_strided)),
        try_this: "pack the elements into a buffer and send it with one put; shmem_ibput for blocks in place \
                   of single elements",
        share,
    })
}

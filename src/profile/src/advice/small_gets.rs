//! Small gets one after another, each of which waits for its answer.

use crate::merge::Merged;
use crate::op::Class;
use crate::report::{Symbols, shown_bytes, shown_count};

use super::{Finding, WORTH, compare_and_swap, core_ns, costliest, polling, shown_sum, sum};

/// Calls of a PE before they are many.
const MANY: u64 = 10_000;
/// Mean size below which a get costs its latency.
const SMALL: u64 = 256;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let blocking = |r: &crate::model::Routine| {
        r.class == Class::Get && !r.name.contains("_nbi") && !r.name.contains("iget") && !r.name.contains("ibget")
    };
    let (calls, ns) = sum(profile, blocking);
    let bytes = profile.routines.iter().filter(|r| blocking(r)).map(|r| r.all_bytes()).fold(0, u64::saturating_add);
    let share = (ns / core_ns(profile)).min(1.0);
    let (a_pe, each) = (calls / (profile.pes.len() as u64).max(1), bytes / calls.max(1));
    // On one PE there is nothing to wait for.
    if profile.pes.len() < 2 || a_pe < MANY || each >= SMALL || share < 5.0 * WORTH {
        return None;
    }
    // What each compare-and-swap needs cannot be fetched with others, nor what one waits for.
    if compare_and_swap::is_fed_by(profile, calls) || polling::is_most(profile) {
        return None;
    }
    Some(Finding {
        what: format!("{} small gets a PE, one after another", shown_count(a_pe)),
        evidence: format!(
            "{} each, {} over all PEs{}",
            shown_bytes(each),
            shown_sum(profile, blocking),
            costliest(profile, symbols, |name| name.contains("get") || name.ends_with("_g"))
        ),
        try_this: "fetch a block with one get, or a stride with shmem_iget; shmem_get_nbi for many at once, \
                   then one quiet",
        share,
    })
}

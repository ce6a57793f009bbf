//! Waiting by asking again and again.

use crate::merge::{Merged, is_ask};
use crate::report::{Symbols, shown_count, shown_time};

use super::{Finding, by_pe, compare_and_swap, core_ns, costliest, sum};

/// Share of the run time that has to go into asking.
const DOMINATES: f64 = 0.10;
const MANY: u64 = 100_000;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let (calls, ns) = sum(profile, is_ask);
    let share = (ns / core_ns(profile)).min(1.0);
    // Who reads a value to replace it does not wait for another.
    if calls < MANY || share < DOMINATES || compare_and_swap::is_fed_by(profile, calls) {
        return None;
    }
    let (pe, most) =
        by_pe(profile, |pe| pe.asks).into_iter().max_by_key(|&(pe, calls)| (calls, std::cmp::Reverse(pe)))?;
    Some(Finding {
        what: format!("waiting by asking: {} tests and fetches", shown_count(calls)),
        evidence: format!(
            "{} in them, most on PE {pe} ({}){}",
            shown_time(ns),
            shown_count(most),
            costliest(profile, symbols, |name| name.contains("_test") || name.ends_with("_atomic_fetch"))
        ),
        try_this: "shmem_wait_until or its _some and _any forms, which leave the core to others; \
                   shmem_set_lock for a lock",
        share,
    })
}

//! Memory that transfers are the first to touch.

use crate::report::{shown_count, shown_time};
use crate::size::size_bounds;
use crate::tables::Rate;

use super::{Case, Finding, core_ns, costliest};

/// Share of the run from which on it is worth a word.
const DOMINATES: f64 = 0.05;
const MANY: u64 = 1000;
/// Part of the pages of a call, from which on these are what takes the time: clearing and mapping one takes longer than
/// filling it.
const TOUCHED: f64 = 0.25;
const PAGE: f64 = 4096.0;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    // Nothing is known of calls for which no look stands: the first call touches what the others find.
    let a_call = |rate: &Rate| rate.faults as f64 / rate.calls.max(rate.looks).max(1) as f64;
    let pages = |rate: &Rate| (size_bounds(usize::from(rate.class)).0 as f64 / PAGE).max(1.0);
    let first: Vec<&Rate> = profile.rates.iter().filter(|rate| a_call(rate) >= TOUCHED * pages(rate)).collect();
    let all = first.iter().map(|rate| rate.faults).fold(0, u64::saturating_add);
    let worst = first.iter().max_by_key(|rate| rate.ns)?;
    let ns: u64 = first.iter().map(|rate| rate.ns).fold(0, u64::saturating_add);
    let share = (ns as f64 / core_ns(profile)).min(1.0);
    if all < MANY || share < DOMINATES {
        return None;
    }
    Some(Finding {
        what: format!("{} pages were touched for the first time in transfers", shown_count(all)),
        evidence: format!(
            "{} in these calls over all PEs, most in {}{}",
            shown_time(ns as f64),
            worst.routine,
            costliest(profile, |name| name == worst.routine)
        ),
        try_this: "use the same buffers again; where new memory is needed, touch it before it matters: the PE that \
                   owns it writes it once, and whoever sends puts to each page once; huge pages have fewer to touch",
        share,
    })
}

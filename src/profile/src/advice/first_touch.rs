//! Memory that transfers are the first to touch.

use crate::merge::Merged;
use crate::report::{Symbols, shown_count, shown_time};

use super::{Finding, busiest, run_ns};

/// What a page costs that is touched for the first time, in nanoseconds: the kernel finds it, clears it and maps it.
const FAULT_NS: f64 = 250.0;
/// Share of the run from which on it is worth a word.
const DOMINATES: f64 = 0.05;
const MANY: f64 = 1000.0;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let faults = |rate: &crate::detail::Rate| {
        // Looks stand for calls that were timed or stand behind samples.
        if rate.looks > 0 { rate.faults as f64 / rate.looks as f64 * rate.calls as f64 } else { 0.0 }
    };
    let all: f64 = profile.rates.iter().map(faults).sum();
    let worst = profile.rates.iter().max_by(|a, b| faults(a).total_cmp(&faults(b)))?;
    let within: u64 = profile.rates.iter().filter(|rate| faults(rate) > 0.0).map(|rate| rate.ns).sum();
    // Not more than these calls took.
    let cost = (all * FAULT_NS).min(within as f64);
    let share = cost / run_ns(profile);
    if all < MANY || share < DOMINATES {
        return None;
    }
    Some(Finding {
        what: format!("{} pages were touched for the first time in transfers", shown_count(all as u64)),
        evidence: format!(
            "{} in these calls over all PEs, most in {}{}",
            shown_time(within as f64),
            worst.routine,
            busiest(profile, symbols, |name| name == worst.routine)
        ),
        try_this: "use the same buffers again; where new memory is needed, touch it before it matters: the PE that owns it \
                   writes it once, and whoever sends puts to each page once; huge pages have fewer to touch",
        share,
    })
}

//! A quiet after every put.

use crate::merge::Merged;
use crate::op::Class;
use crate::report::{Symbols, shown_count, shown_time};

use super::{Finding, WORTH, busiest, core_ns, is_quiet, sum};

const MANY: u64 = 1000;

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let (quiets, ns) = sum(profile, is_quiet);
    let (puts, put_ns) = sum(profile, |r| r.class == Class::Put);
    // What a quiet costs is in the puts too, which cannot be under way together.
    let share = ((ns + put_ns) / core_ns(profile)).min(1.0);
    let ratio = quiets as f64 / puts.max(1) as f64;
    if quiets < MANY || puts < MANY || !(0.5..=2.0).contains(&ratio) || share < WORTH {
        return None;
    }
    Some(Finding {
        what: format!("a quiet after nearly every put: {} quiets for {} puts", shown_count(quiets), shown_count(puts)),
        evidence: format!(
            "{} in quiet, {} in puts{}",
            shown_time(ns),
            shown_time(put_ns),
            busiest(profile, symbols, |name| name.contains("quiet"))
        ),
        try_this: "one quiet after a batch of puts; shmem_fence where only their order matters; \
                   shmem_put_signal to tell the target",
        share,
    })
}

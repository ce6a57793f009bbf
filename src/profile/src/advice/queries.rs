//! Questions with always the same answer, asked again and again.

use crate::model::Routine;
use crate::op::Class;
use crate::report::shown_count;

use super::{Case, Finding, WORTH, core_ns, costliest, shown_sum, sum};

/// Calls of a PE before they are many.
const MANY: u64 = 100_000;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let is_query = |r: &Routine| r.class == Class::Query;
    let (calls, ns) = sum(profile, is_query);
    let share = (ns / core_ns(profile)).min(1.0);
    let a_pe = calls / (profile.pes.len() as u64).max(1);
    if a_pe < MANY || share < WORTH {
        return None;
    }
    let most = profile.routines.iter().filter(|r| r.class == Class::Query).max_by_key(|r| r.all_calls())?;
    Some(Finding {
        what: format!("{} is called {} times", most.name, shown_count(most.all_calls())),
        evidence: format!(
            "{} in it and its like over all PEs{}",
            shown_sum(profile, is_query),
            costliest(profile, |name| name == most.name)
        ),
        try_this: "ask once, before the loop, and keep the answer in a variable",
        share,
    })
}

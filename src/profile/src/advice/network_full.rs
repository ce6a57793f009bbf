//! A network that had no room for operations again and again.

use crate::op::Class;
use crate::report::{shown_count, shown_time};

use super::{Case, Finding, run_ns, sum};

/// Share of the operations that have to find no room.
const OFTEN: f64 = 0.1;
/// Operations before they are many: fewer wait for something else.
const MANY: u64 = 10_000;
/// Share of the run that transfers have to take.
const DOMINATES: f64 = 0.10;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let number = |wanted: &str| profile.network.iter().find(|(name, _)| name == wanted).map(|(_, sum)| *sum);
    let retries = number("retries")?;
    let operations: u64 = ["writes", "reads", "requests", "messages", "nic_atomics"]
        .iter()
        .filter_map(|name| Some(number(name)?.total))
        .fold(0, u64::saturating_add);
    let moves = |class| matches!(class, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order);
    let (_, ns) = sum(profile, |r| moves(r.class));
    let share = ns / run_ns(profile);
    if operations < MANY || (retries.total as f64) < OFTEN * operations as f64 || share < DOMINATES {
        return None;
    }
    Some(Finding {
        what: format!(
            "the network had no room for {} of {} operations at first",
            shown_count(retries.total),
            shown_count(operations)
        ),
        evidence: format!("{} in transfers over all PEs; most of them on PE {}", shown_time(ns), retries.most.1),
        try_this: "fewer operations at a time: a quiet after some hundred, larger messages; --view matrix says whether \
                   all go to one PE",
        share,
    })
}

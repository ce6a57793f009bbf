//! Many small messages over the network, each by itself.

use crate::op::Class;
use crate::report::{shown_bytes, shown_count, shown_time};

use super::{Case, Finding, compare_and_swap, costliest, run_ns, sum};

/// Messages of a PE before they are many.
const MANY: u64 = 100;
/// Bytes of a message below which it is more effort than data: latency is that of some ten KiB.
const SMALL: u64 = 1024;
/// Share of the run that transfers have to take.
const DOMINATES: f64 = 0.10;
/// Puts and atomics in a message below which nothing is batched.
const ALONE: f64 = 2.0;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let number = |wanted: &str| profile.network.iter().find(|(name, _)| name == wanted).map_or(0, |(_, sum)| sum.total);
    let (requests, entries) = (number("requests"), number("request_entries"));
    let operations = number("writes").saturating_add(number("reads")).saturating_add(requests);
    let bytes = number("bytes_out").saturating_add(number("bytes_in"));
    let moves = |class| matches!(class, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order);
    let (_, ns) = sum(profile, |r| moves(r.class));
    let share = ns / run_ns(profile);
    let mean = bytes / operations.max(1);
    let alone = entries as f64 <= ALONE * requests as f64;
    let many = operations / (profile.pes.len() as u64).max(1) >= MANY;
    // A message that somebody waits for cannot be sent with the next one.
    let (waits, _) = sum(profile, |r| r.class == Class::Wait);
    let (calls, _) = sum(profile, |r| moves(r.class) && r.class != Class::Order);
    let awaited = 2 * waits >= calls;
    // Nor can what decides on the next one.
    let awaited = awaited || compare_and_swap::are_most(profile, calls);
    if awaited || !many || !alone || mean >= SMALL || share < DOMINATES {
        return None;
    }
    let is_transfer = |name: &str| crate::op::class_of(name).is_some_and(moves);
    Some(Finding {
        what: format!("{} messages of {} each over the network", shown_count(operations), shown_bytes(mean)),
        evidence: format!(
            "{} in transfers over all PEs{}{}",
            shown_time(ns),
            match requests {
                0 => String::new(),
                _ => format!("; {:.1} puts and atomics in a message", entries as f64 / requests as f64),
            },
            costliest(profile, is_transfer)
        ),
        try_this: "issue many with the _nbi forms and one quiet: small ones then share messages; or collect them in a \
                   buffer a PE",
        share,
    })
}

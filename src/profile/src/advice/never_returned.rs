//! Calls in which the PEs of a job stood when somebody ended it.

use crate::model::Routine;
use crate::report::shown_time;

use super::{Case, Finding, costliest, run_ns};

/// Share of the run from which on it was ended because of them.
const MUCH: f64 = 0.02;
/// So many routines are named.
const LISTED: usize = 3;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    if !profile.was_given_up() {
        return None;
    }
    let mut inside: Vec<&Routine> = profile.routines.iter().filter(|r| r.unfinished > 0).collect();
    inside.sort_by(|a, b| (b.unfinished, b.unfinished_ns, &a.name).cmp(&(a.unfinished, a.unfinished_ns, &b.name)));
    let ns = inside.iter().map(|r| r.unfinished_ns).fold(0, u64::saturating_add);
    let share = (ns as f64 / run_ns(profile)).min(1.0);
    if share < MUCH {
        return None;
    }
    let calls = inside.iter().map(|r| r.unfinished).fold(0, u64::saturating_add);
    let named: Vec<String> = inside.iter().take(LISTED).map(|r| format!("{} of {}", r.unfinished, r.name)).collect();
    let more = if inside.len() > LISTED { " and others" } else { "" };
    let most = inside.iter().max_by_key(|r| r.unfinished_ns)?;
    let ring = profile.lock_rings.text().map(|text| format!("; {text}")).unwrap_or_default();
    Some(Finding {
        what: format!("calls never returned: {}{more}{ring}", named.join(", ")),
        evidence: format!(
            "{} in {} when the job was ended{}",
            shown_time(ns as f64),
            if calls == 1 { "it".to_owned() } else { format!("these {calls}") },
            costliest(profile, |routine| routine == most.name)
        ),
        try_this: "oshprof hang says who waits for whom while such a job runs, and oshrun does at --timeout and on \
                   SIGQUIT",
        share,
    })
}

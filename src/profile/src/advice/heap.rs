//! Symmetric memory that is allocated again and again.

use crate::op::{Class, class_of};
use crate::report::{shown_count, shown_time};

use super::{Case, Finding, costliest, run_ns, sum};

const DOMINATES: f64 = 0.05;
/// Allocations of a PE from which on they are a habit.
const MANY: u64 = 100;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (calls, ns) = sum(profile, |r| r.class == Class::Memory);
    // What is waited for PEs that come late is waited without allocations, too.
    let late = profile.lost_to_late_ns(|routine| class_of(routine) == Some(Class::Memory));
    let ns = (ns - late as f64).max(0.0);
    let share = ns / run_ns(profile);
    let a_pe = calls / (profile.pes.len() as u64).max(1);
    if a_pe < MANY || share < DOMINATES {
        return None;
    }
    Some(Finding {
        what: format!("symmetric memory is allocated and freed {} times a PE", shown_count(a_pe)),
        evidence: format!(
            "{} in it, without waiting for PEs that come late; each call is a barrier of all PEs{}",
            shown_time(ns),
            costliest(profile, |name| name.contains("alloc") || name.contains("free"))
        ),
        try_this: "allocate once, before the loop, and use it again; a static array needs no allocation at all",
        share,
    })
}

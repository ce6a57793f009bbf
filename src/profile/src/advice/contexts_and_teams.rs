//! Contexts and teams that are made again and again.

use crate::op::{Class, class_of};
use crate::report::{shown_count, shown_time};

use super::room::room;
use super::{Case, Finding, core_ns, costliest, run_ns, sum};

const DOMINATES: f64 = 0.05;
/// Contexts and teams that a PE makes from which on it is a habit.
const MANY: u64 = 100;

/// Routines of these classes that make one or give it back: others ask for what it is.
fn is_of(class: Class, name: &str) -> bool {
    let makes = is_made_by(name) || ["_destroy", "_delete"].iter().any(|part| name.contains(part));
    makes && class_of(name) == Some(class)
}

fn is_made_by(name: &str) -> bool {
    ["_create", "_split"].iter().any(|part| name.contains(part))
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (_, contexts) = sum(profile, |r| is_of(Class::Context, &r.name));
    // What is waited for PEs that come late is waited without teams, too.
    let late = profile.lost_to_late_ns(|routine| is_of(Class::Team, routine));
    let (_, teams) = sum(profile, |r| is_of(Class::Team, &r.name));
    let teams = (teams - late as f64).max(0.0);
    let share = contexts / core_ns(profile) + teams / run_ns(profile);
    let share = share.min(room(profile, |class| matches!(class, Class::Context | Class::Team)));
    let (class, what, ns) =
        if contexts >= teams { (Class::Context, "contexts", contexts) } else { (Class::Team, "teams", teams) };
    let (made, _) = sum(profile, |r| is_of(class, &r.name) && is_made_by(&r.name));
    let a_pe = made / (profile.pes.len() as u64).max(1);
    if a_pe < MANY || share < DOMINATES {
        return None;
    }
    let meets = if class == Class::Team { ", without waiting for PEs that come late" } else { "" };
    Some(Finding {
        what: format!("{what} are made {} times a PE", shown_count(a_pe)),
        evidence: format!(
            "{} in making and destroying them{meets}{}",
            shown_time(ns),
            costliest(profile, |name| is_of(class, name))
        ),
        try_this: if class == Class::Team {
            "make a team once, before the loop, and use it again: each split and each destruction is a meeting of PEs"
        } else {
            "create a context once, before the loop, and use it again: shmem_ctx_quiet completes what was sent by it; \
             one a thread is enough"
        },
        share: share.min(1.0),
    })
}

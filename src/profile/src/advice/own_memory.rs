//! Puts and gets of a PE's own memory, which it can read and write itself.

use crate::model::Routine;
use crate::op::Class;
use crate::report::shown_count;
use crate::size::Distance;

use super::room::room;
use super::{Case, Finding, core_ns, costliest, shown_sum, sum};

/// Calls of a PE before they are many.
const MANY: u64 = 10_000;
/// Share of the run that they have to take.
const DOMINATES: f64 = 0.10;
/// Share of a routine's calls that have to be of the PE's own memory.
const NEARLY_ALL: f64 = 0.9;

fn moves(class: Class) -> bool {
    matches!(class, Class::Put | Class::Get)
}

/// Whether nearly all calls of a routine are of the PE's own memory.
pub(super) fn is_of_own(r: &Routine) -> bool {
    let own = r.calls[Distance::Own as usize];
    moves(r.class) && own > 0 && own as f64 >= NEARLY_ALL * r.all_calls() as f64
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let (calls, ns) = sum(profile, is_of_own);
    let a_pe = calls / (profile.pes.len() as u64).max(1);
    let share = (ns / core_ns(profile)).min(room(profile, moves));
    // A PE that is alone has nobody else's.
    if profile.pes.len() < 2 || a_pe < MANY || share < DOMINATES {
        return None;
    }
    let names: Vec<&str> = profile.routines.iter().filter(|r| is_of_own(r)).map(|r| &*r.name).collect();
    Some(Finding {
        what: format!("{} puts and gets a PE of its own memory", shown_count(a_pe)),
        evidence: format!(
            "{} over all PEs{}",
            shown_sum(profile, is_of_own),
            costliest(profile, |name| names.contains(&name))
        ),
        try_this: "symmetric memory of the PE itself is memory as any other: read and write it directly, and call the \
                   library for what other PEs have",
        share,
    })
}

//! What reports say of all PEs together.

use std::collections::HashSet;

use crate::merge::{Merged, PeRow};
use crate::model::Routine;
use crate::op::Class;

/// The hosts of the job, each once, in the order of their PEs.
pub fn hosts(profile: &Merged) -> Vec<&str> {
    let mut seen = HashSet::new();
    let names = profile.pes.iter().map(|pe| &*pe.host).filter(|host| !host.is_empty());
    let mut hosts: Vec<&str> = names.filter(|host| seen.insert(*host)).collect();
    if hosts.is_empty() && !profile.job.host.is_empty() {
        hosts.push(&profile.job.host);
    }
    hosts
}

/// Time of all PEs together between initialization and finalization, in nanoseconds: what shares are of.
pub(crate) fn run_time_ns(pes: &[PeRow]) -> f64 {
    pes.iter().map(|pe| pe.main_ns() as f64).sum()
}

/// Whether a routine begins or ends the program: it is outside of the time that shares are of.
pub(super) fn is_setup(routine: &Routine) -> bool {
    routine.class == Class::Setup
}

/// What part of the run a routine took, and calls of it that did not return; `None` where it is not part of it.
pub(super) fn share(routine: &Routine, run_time_ns: f64) -> Option<f64> {
    let share = if run_time_ns > 0.0 { routine.spent_ns() as f64 / run_time_ns } else { 0.0 };
    (!is_setup(routine)).then_some(share)
}

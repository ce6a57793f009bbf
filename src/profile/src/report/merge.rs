//! What reports say of all PEs together.

use std::collections::HashSet;

use crate::merge::{Merged, PeRow};

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

/// Run time of all PEs together, in nanoseconds: what shares are of.
pub(super) fn run_time_ns(pes: &[PeRow]) -> f64 {
    pes.iter().map(|pe| pe.wall_ns() as f64).sum()
}

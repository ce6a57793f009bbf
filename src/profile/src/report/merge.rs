//! Sums over PEs.

use crate::model::{Pe, Profile, Routine};

/// Every routine, summed over PEs, in the order of first appearance.
pub fn routines(pes: &[Pe]) -> Vec<Routine> {
    let mut sums: Vec<Routine> = Vec::new();
    for routine in pes.iter().flat_map(|pe| &pe.routines) {
        match sums.iter_mut().find(|sum| sum.name == routine.name) {
            Some(sum) => sum.merge(routine),
            None => sums.push(routine.clone()),
        }
    }
    sums
}

/// The hosts of the job, each once, in the order of their PEs.
pub fn hosts(profile: &Profile) -> Vec<&str> {
    let mut hosts: Vec<&str> = Vec::new();
    for host in profile.pes.iter().map(|pe| pe.host.as_str()).filter(|host| !host.is_empty()) {
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    if hosts.is_empty() && !profile.job.host.is_empty() {
        hosts.push(&profile.job.host);
    }
    hosts
}

/// Run time of all PEs together, in nanoseconds: what shares are of.
pub(super) fn run_time_ns(pes: &[Pe]) -> f64 {
    pes.iter().map(|pe| pe.wall_ns() as f64).sum()
}

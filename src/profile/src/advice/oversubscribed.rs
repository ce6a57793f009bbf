//! More PEs than cores, or cores that other programs take.

use crate::merge::{Merged, PeRow};
use crate::op::Class;
use crate::report::{Symbols, shown_count, shown_time};

use super::{Finding, run_ns};

/// Share of the run that has to be spent waiting.
const WAITING: f64 = 0.10;
/// Share of the run without a processor from which on others are to blame where there are cores for all.
const WITHOUT: f64 = 0.15;

/// See the module.
pub fn find(profile: &Merged, _: &dyn Symbols) -> Option<Finding> {
    let hosts = crate::report::hosts(profile);
    let known = || profile.pes.iter().filter(|pe| pe.system.cores > 0);
    let on = |host: &str| known().filter(|pe| &*pe.host == host).collect::<Vec<&PeRow>>();
    let crowd = |host: &str| {
        let pes = on(host);
        let cores = pes.iter().map(|pe| pe.system.cores).max().unwrap_or(u32::MAX);
        (pes.len() as u64, u64::from(cores))
    };
    let (host, (pes, cores)) =
        hosts.iter().map(|host| (*host, crowd(host))).max_by(|a, b| (a.1.0 * b.1.1).cmp(&(b.1.0 * a.1.1)))?;
    let waiting: f64 = known().map(|pe| pe.time_ns(Class::waits) as f64).sum();
    let switches: u64 = known().map(|pe| pe.system.usage.involuntary_switches).sum();
    let on_core: f64 = known().map(|pe| (pe.system.usage.user_ns + pe.system.usage.system_ns) as f64).sum();
    let run = run_ns(profile);
    if pes > cores {
        let share = (waiting / run).min(1.0 - cores as f64 / pes as f64);
        return (share >= WAITING).then(|| Finding {
            what: format!("{pes} PEs share {cores} cores on {host}: waits include time without a core"),
            evidence: format!(
                "{} waiting over all PEs; {} on processors; {} times a PE had to leave its core",
                shown_time(waiting),
                shown_time(on_core),
                shown_count(switches)
            ),
            try_this: "start as many PEs as there are cores; what a PE does more than one of the others has \
                       to wait for",
            share,
        });
    }
    // PEs yield where they wait long: only what computes or spins tells of others.
    let without = (run - on_core).max(0.0).min(waiting) / run;
    let often = switches > 100 * profile.pes.len() as u64;
    (often && without >= WITHOUT).then(|| Finding {
        what: format!(
            "other programs take the cores of {host}: PEs had to leave theirs {} times",
            shown_count(switches)
        ),
        evidence: format!("{} on processors in {} of run time", shown_time(on_core), shown_time(run)),
        try_this: "run where nothing else runs; oshrun --bind-to core keeps PEs from moving",
        share: without,
    })
}

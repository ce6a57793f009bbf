//! One PE that works from one meeting to the next while the others ask for what it has: in the run as a whole others
//! may have as much to do.

use crate::merge::{Merged, PhaseSum};
use crate::report::{LinePhase, shown_time};

use super::room::{go_together, work_between};
use super::serial_pe::{LEAST_NS, LOST, MORE, is_alone};
use super::{Case, Finding, polling, run_ns};

/// The part of what it has to do more in which the others ask at least: while they stand in line for a core, they do
/// not.
const ASK: f64 = 0.1;

/// What one PE has to do alone in a phase.
struct Alone<'p> {
    phase: &'p LinePhase,
    pe: u32,
    work: f64,
    mean: f64,
}

impl Alone<'_> {
    /// Over all PEs, were it spread evenly.
    fn saved_ns(&self, pes: usize) -> f64 {
        (self.work - self.mean) * (pes - 1) as f64
    }
}

/// Where others wait in meetings, or for flags, other rules speak.
pub(super) fn find(profile: &Case<'_>) -> Option<Finding> {
    if !polling::is_waiting(profile) || !go_together(profile) {
        return None;
    }
    let (pes, work) = (profile.pes.len(), work_between(profile));
    let alone = profile.line_phases().iter().filter_map(|phase| alone(profile, phase, &work));
    let most = alone.max_by(|a, b| a.saved_ns(pes).total_cmp(&b.saved_ns(pes)))?;
    let share = most.saved_ns(pes) / run_ns(profile);
    (share >= LOST).then(|| Finding {
        what: format!(
            "PE {} works alone for {} {} while others ask whether it is through",
            most.pe,
            shown_time(most.work - most.mean),
            most.phase.name()
        ),
        evidence: format!(
            "{} outside of the library there, {} in the mean of the others, without standing in line for a core",
            shown_time(most.work),
            shown_time(most.mean)
        ),
        try_this: "give each PE a part of that work; or let the others go on with what does not need it",
        share,
    })
}

fn alone<'p>(profile: &Merged, phase: &'p LinePhase, work: impl Fn(&PhaseSum, u32) -> f64) -> Option<Alone<'p>> {
    let sum = &phase.sum;
    let works: Vec<(u32, f64)> = profile.pes.iter().map(|pe| (pe.pe, work(sum, pe.pe))).collect();
    let (pe, most) = works.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let others = || works.iter().filter(|(other, _)| *other != pe).map(|(_, ns)| *ns);
    let mean = others().sum::<f64>() / (works.len() - 1) as f64;
    // Who asks himself is not the one; and the others do so here.
    let calls: u64 = profile.pes.iter().map(|pe| sum.calls_of(pe.pe)).sum();
    let own = sum.calls_of(pe) as f64;
    let they_ask = calls as f64 - own >= ASK * (most - mean) * (works.len() - 1) as f64;
    let is_it = they_ask && own * works.len() as f64 <= calls as f64 / 2.0;
    let is_it = is_it && most >= MORE * mean && most - mean >= LEAST_NS;
    (is_it && is_alone(most as u64, others().map(|ns| ns as u64), mean)).then_some(Alone {
        phase,
        pe,
        work: most,
        mean,
    })
}

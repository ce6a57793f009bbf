//! Meetings to which another PE comes last each time, of PEs that have as much to do as each other in all.

use crate::op::Class;
use crate::report::{LateLine, Regions, late_by_line, located, place, shown_count, shown_time};

use super::serial_pe::outside_ns;
use super::{Case, Finding, run_ns, serialized};

/// Share of the run that has to be lost.
const LOST: f64 = 0.15;
/// The same in nanoseconds: below, it is as likely the machine's noise.
const LEAST_NS: f64 = 20e6;
/// What is lost in a meeting by each PE in the mean, in nanoseconds: what comes so late did something else.
const EACH_NS: f64 = 20e3;
/// How even the work has to be, as a factor of efficiency.
const EVEN: f64 = 0.85;
/// Share of what is lost that is lost to one PE at most: of two PEs one is always the last.
const ONE_PE: f64 = 0.6;
/// Meetings from which on it is a habit.
const MEETINGS: u64 = 10;
/// Share of what is lost that PEs wait for flags and locks at most: who comes late since it waits has no more to do.
const WAITS: f64 = 0.5;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let pes = profile.pes.len() as u64;
    let times = &profile.efficiencies.run;
    let factors =
        times.factors(pes).filter(|_| pes > 1 && !profile.meetings_differ() && profile.is_recorded_evenly())?;
    let LateLine { late, .. } = late_by_line(profile, Regions::Together, profile.symbols).into_iter().next()?;
    let (pe, times_last, to_one) = late.worst()?;
    let lost = late.lost_ns as f64;
    let share = (lost / run_ns(profile)).min(1.0 - factors.balance * factors.serialisation);
    let waits: f64 = profile.pes.iter().map(|pe| pe.time_ns(Class::is_for_others) as f64).sum();
    let works: f64 = profile.pes.iter().map(|pe| outside_ns(pe) as f64).sum();
    let each = lost / (late.meetings.max(1) * (pes - 1)) as f64;
    let is_habit = late.meetings >= MEETINGS && each >= EACH_NS && factors.balance >= EVEN && works > lost;
    let is_lost = share >= LOST && share * times.elapsed_most as f64 >= LEAST_NS;
    if !is_habit
        || !is_lost
        || to_one as f64 > ONE_PE * lost
        || waits > WAITS * lost
        || serialized::lacks_cores(profile)
        || serialized::find(profile).is_some()
    {
        return None;
    }
    let at = |site| format!("; most {}", located(&place(Some(site), profile.symbols)));
    let site = late.place().map_or(String::new(), at);
    Some(Finding {
        what: format!("{} waits for another PE each time, though all have as much to do", late.routine),
        evidence: format!(
            "{} lost in {} of them over all PEs, up to {} at a time; PE {pe} was last most often, {} times{site}",
            shown_time(lost),
            shown_count(late.meetings),
            shown_time(late.max_skew_ns as f64),
            shown_count(times_last),
        ),
        try_this: "meet less often, so that steps that take long even out; a signal to those who need the data in \
                   place of a barrier; smaller parts, which PEs take from a counter (shmem_atomic_fetch_add)",
        share,
    })
}

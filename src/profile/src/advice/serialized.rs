//! PEs that work one after another, none of them nearly alone.

use crate::merge::{Cause, Merged, PeRow};
use crate::op::{Class, class_of};
use crate::report::shown_time;

use super::serial_pe::may_wait;
use super::{Case, Finding, costliest, oversubscribed, run_ns};

/// Share of the run that has to be lost waiting for each other.
const LOST: f64 = 0.20;
/// What has to be lost of the run, in nanoseconds: below, it is as likely the machine's noise.
const LEAST_NS: f64 = 20e6;
/// How even the work is, as a factor of efficiency, where all PEs are said to have as much to do.
const EVEN: f64 = 0.8;
/// How even it has to be: else there is a PE that has far more to do.
const LEAST_EVEN: f64 = 0.65;
/// How many of the PEs work at a time at most.
const FEW: f64 = 0.65;
/// How many work at a time at least: with less, it is transfers that all wait for.
const ONE: f64 = 0.6;
/// The part of waits for flags in which others work, counted for all of them, from which on it is their work that is
/// waited for.
const FOR_WORK: f64 = 0.6;
/// Share of the run for which a PE stands in line for a core at most while it does not wait.
const IN_LINE: f64 = 0.1;

/// What to try where they pass something on.
const PASS_ON: &str = "let the next PE begin before the one before it has finished: a second buffer, that is filled \
     while the first one is read; smaller parts, sent on as they are ready; what does not depend on others first";
/// What to try where another one has something to do before each meeting.
const EVEN_OUT: &str = "give each PE a part of each step: smaller parts, which PEs take from a counter \
     (shmem_atomic_fetch_add); meet less often, so that steps that take long even out";

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let pes = profile.pes.len() as u64;
    let times = &profile.efficiencies.run;
    let elapsed = times.elapsed_most as f64;
    let factors = times.factors(pes).filter(|_| pes > 1 && profile.is_recorded_evenly())?;
    let at_a_time = times.useful_sum as f64 / elapsed;
    let share = (times.savings(pes)[2] as f64 / elapsed).min(for_work_ns(profile, pes) / run_ns(profile));
    let is_in_turn = factors.balance >= LEAST_EVEN && (ONE..=FEW * pes as f64).contains(&at_a_time);
    if share < LOST || share * elapsed < LEAST_NS || !is_in_turn || lacks_cores(profile) {
        return None;
    }
    let waiting: f64 = profile.pes.iter().map(|pe| pe.time_ns(may_wait) as f64).sum();
    let is_even = factors.balance >= EVEN;
    // That several have more to do says more.
    if !is_even && profile.uneven().is_some() {
        return None;
    }
    Some(Finding {
        what: match is_even {
            true => {
                format!("PEs have as much to do as each other, but not at the same time: {at_a_time:.1} of {pes} work")
            }
            false => format!("PEs work one after another: {at_a_time:.1} of {pes} at a time, in the mean"),
        },
        evidence: format!(
            "{} outside of the library over all PEs in a run of {}, {} waiting for each other{}",
            shown_time(times.useful_sum as f64),
            shown_time(elapsed),
            shown_time(waiting),
            costliest(profile, |r| may_wait(r.class))
        ),
        try_this: if in_meetings_ns(profile) > for_flags_ns(profile, pes) { EVEN_OUT } else { PASS_ON },
        share,
    })
}

/// Whether PEs work one after another because of their cores.
pub(super) fn lacks_cores(profile: &Merged) -> bool {
    // Whoever waits gives way, and stands in line for that.
    let in_line = |pe: &PeRow| pe.queued_outside_ns().unwrap_or(0) as f64 > IN_LINE * profile.longest_ns() as f64;
    profile.pes.iter().any(in_line)
        || oversubscribed::is_short_of_cores(profile)
        || oversubscribed::do_others_take(profile)
}

/// Time in which PEs wait for what others work, as far as it is known whom they wait for: for the last one that comes
/// to a meeting, and for flags where the others work meanwhile, each of them for as long as the one that sets it.
fn for_work_ns(profile: &Merged, pes: u64) -> f64 {
    in_meetings_ns(profile) + for_flags_ns(profile, pes)
}

fn in_meetings_ns(profile: &Merged) -> f64 {
    profile.late.iter().map(|line| line.lost_ns as f64).sum()
}

fn for_flags_ns(profile: &Merged, pes: u64) -> f64 {
    let is_wait = |row: &&Cause| class_of(row.site.routine) == Some(Class::Wait);
    let (mut all, mut work) = (0.0, 0.0);
    for row in profile.causes.rows.iter().filter(is_wait) {
        all += row.ns as f64;
        work += row.by.as_ref().map_or(0.0, |by| by.work_ns.min(row.ns) as f64);
    }
    if work * (pes - 1) as f64 > FOR_WORK * all { all } else { 0.0 }
}

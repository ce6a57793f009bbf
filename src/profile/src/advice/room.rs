//! What calls leave to be saved, where one PE hardly makes them: the run takes as long as what that PE does else.

use std::collections::BTreeMap;

use crate::merge::{Late, Merged, PeRow, PhaseSum};
use crate::op::Class;
use crate::report::line;

use super::Case;
use super::naps::naps_ns;
use super::serial_pe::may_wait;

/// Calls that do not wait, of the work, from which on a PE stands in line for a core while it makes them.
const CALLS: f64 = 0.1;

/// Calls that move data, or ask for it.
pub(super) fn is_transfer(class: Class) -> bool {
    matches!(class, Class::Put | Class::Get | Class::Amo | Class::Signal | Class::Order | Class::Test)
}

/// The share of the run that is left without waits, and calls of the classes that `of` picks, at most: of the PE that
/// has most else to do, and of the PEs that have most else to do from one meeting to the next.
pub(super) fn room(profile: &Case<'_>, of: impl Fn(Class) -> bool) -> f64 {
    let is_saved = |class: Class| may_wait(class) || of(class);
    let naps = naps_ns(profile);
    let busy = |pe: &PeRow| busy_ns(pe, is_saved).saturating_sub(naps(pe));
    let busy = profile.pes.iter().map(busy).max().unwrap_or(0) as f64 / profile.longest_ns() as f64;
    let busy = busy.max(between_meetings(profile));
    (1.0 - busy).max(0.0)
}

/// Time of a PE in all else. Where PEs stand in line for a core, it is those who wait and ask that take it.
fn busy_ns(pe: &PeRow, is_saved: impl Fn(Class) -> bool) -> u64 {
    pe.main_ns().saturating_sub(pe.time_ns(is_saved)).saturating_sub(pe.queued_outside_ns().unwrap_or(0))
}

/// The share of the run that is work of the PE that works most from each meeting to the next: where all go the same way
/// and meet all others, nobody is past a meeting before it.
fn between_meetings(profile: &Case<'_>) -> f64 {
    if !go_together(profile) {
        return 0.0;
    }
    let work = work_between(profile);
    let most = |sum: &PhaseSum| profile.pes.iter().map(|pe| work(sum, pe.pe)).fold(0.0, f64::max);
    let all: f64 = profile.line_phases().iter().map(|phase| most(&phase.sum)).sum();
    all / (profile.efficiencies.run.elapsed_most.max(1) as f64)
}

/// Whether all PEs go the same way from meeting to meeting, and meet all others there. Where the compiler has made
/// several places of a line, all of them are one.
pub(super) fn go_together(profile: &Case<'_>) -> bool {
    let phases = profile.line_phases();
    let pes = profile.pes.len() as u64;
    let is_of_all = |size: i32| u64::try_from(size) == Ok(pes);
    let are_of_all = profile.teams.iter().all(|((.., size), sum)| sum.calls == 0 || is_of_all(*size));
    let is_of_each = |sum: &PhaseSum| sum.pes() == pes && sum.times().is_multiple_of(pes);
    let have_threads = profile.pes.iter().any(|pe| pe.threads > 1);
    pes > 1 && profile.every <= 1 && are_of_all && !have_threads && phases.iter().all(|phase| is_of_each(&phase.sum))
}

/// Phases that end in the meetings of a line.
pub(super) fn phases_before<'p>(profile: &'p Case<'_>, late: &'p Late) -> impl Iterator<Item = &'p PhaseSum> {
    let here = late.place().map(|place| line(Some(place), profile.symbols));
    profile.line_phases().iter().filter(move |phase| phase.ends_at(late, here.as_deref())).map(|phase| &phase.sum)
}

/// What a PE works from one meeting to the next, in nanoseconds, without standing in line for a core, or sleeping until
/// it asks again: that of a PE
/// which calls again and again what does not wait is in proportion to such calls, else to its work.
pub(super) fn work_between(profile: &Merged) -> impl Fn(&PhaseSum, u32) -> f64 {
    let naps = naps_ns(profile);
    let in_line = |pe: &PeRow| (pe.pe, in_line(profile, pe, naps(pe)));
    let in_line: BTreeMap<u32, (bool, f64)> = profile.pes.iter().map(in_line).collect();
    move |sum, pe| {
        let (for_calls, part) = in_line.get(&pe).copied().unwrap_or_default();
        let in_line = part * if for_calls { sum.calls_of(pe) } else { sum.work_of(pe) } as f64;
        (sum.work_of(pe) as f64 - in_line).max(0.0)
    }
}

fn in_line(profile: &Merged, pe: &PeRow, naps_ns: u64) -> (bool, f64) {
    let all = |of: fn(&PhaseSum, u32) -> u64| profile.phases.iter().map(|(_, sum)| of(sum, pe.pe)).sum::<u64>();
    let (calls, work) = (all(PhaseSum::calls_of), all(PhaseSum::work_of));
    let for_calls = calls as f64 >= CALLS * work as f64;
    let queued = pe.queued_outside_ns().unwrap_or(0).saturating_add(naps_ns);
    (for_calls, queued as f64 / if for_calls { calls } else { work }.max(1) as f64)
}

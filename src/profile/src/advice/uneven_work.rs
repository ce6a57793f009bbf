//! Several PEs that have more to do than the others, which wait for them.

use std::collections::BTreeMap;

use crate::merge::{Does, Late, Merged, OutsideParts, PeRow, PhaseSum, WaitLines, Whose, outside_parts};
use crate::op::Class;
use crate::report::{LateLine, Regions, late_by_line, shown_time, try_otherwise};
use crate::text::pe_list;

use super::naps::naps_ns;
use super::room::phases_before;
use super::serial_pe::{may_wait, outside_ns};
use super::start_and_end::{END, waits_at_end};
use super::{Case, Finding, costliest, run_ns, serialized};

/// Share of the run that even work would save.
const LOST: f64 = 0.10;
/// The same in nanoseconds: below, it is as likely the machine's noise.
const LEAST_NS: f64 = 20e6;
/// How much more than the mean of the others these PEs have to do in the mean.
const MORE: f64 = 1.25;
/// What is lost to these PEs at least, of what is lost in meetings, where that is more than waits for flags.
const TO_THEM: f64 = 0.7;
/// What is lost to them there, or waited for flags, compared with what could be saved.
const KNOWN: f64 = 0.5;
/// What has to be lost to each of them, of what would be its part were it lost to all of them alike.
const FAIR: f64 = 0.25;
/// How much longer than the others a PE works before a meeting, compared with the one that comes last: then it would be
/// late without that one.
const AS_LONG: f64 = 0.5;
/// PEs that are named.
const NAMED: usize = 8;

/// PEs by what they have to do: those with more, and the others, with the mean of each in nanoseconds.
pub(super) struct Groups<'p> {
    more: (Vec<&'p PeRow>, f64),
    less: (Vec<&'p PeRow>, f64),
    /// Share of the run that even work would save.
    share: f64,
}

/// Whether a PE is one of several that have more to do than the others.
pub(super) fn is_one_of_several(profile: &Case<'_>, pe: u32) -> bool {
    profile.uneven().is_some_and(|groups| groups.more.0.iter().any(|row| row.pe == pe))
}

/// In a crowd no more than it was on cores for: whoever waits stands in line there as well, for how long of it is not
/// known.
fn worked_ns(pe: &PeRow, is_crowded: bool) -> u64 {
    let worked = outside_ns(pe).saturating_sub(pe.queued_outside_ns().unwrap_or(0));
    if is_crowded { worked.min(pe.on_core_ns()) } else { worked }
}

/// Whether it is known of all PEs for how long they were on cores, and stood in line for one.
fn are_cores_known(profile: &Merged) -> bool {
    profile.pes.iter().all(|pe| pe.system.cores > 0 && pe.on_core_ns() > 0 && pe.queued_ns().is_some())
}

/// The part of the run in which cores were free of the work of PEs, in the mean: no more is saved where that is spread
/// over all of them.
fn free_share(profile: &Merged) -> f64 {
    let mut cores: BTreeMap<&str, u64> = BTreeMap::new();
    profile.pes.iter().for_each(|pe| _ = cores.insert(&pe.host, pe.system.cores.into()));
    let all = cores.values().sum::<u64>() as f64 * profile.efficiencies.run.elapsed_most as f64;
    1.0 - (profile.pes.iter().map(|pe| worked_ns(pe, true) as f64).sum::<f64>() / all.max(1.0)).min(1.0)
}

/// How long PEs are outside of the library, without standing in line for a core, or sleeping between two tests.
fn works(profile: &Merged, is_crowded: bool) -> impl Fn(&PeRow) -> f64 + use<> {
    let naps = naps_ns(profile);
    move |pe| worked_ns(pe, is_crowded).saturating_sub(naps(pe)) as f64
}

/// See [`Case::uneven`].
pub(super) fn groups<'p>(profile: &Case<'p>) -> Option<Groups<'p>> {
    let is_crowded = serialized::lacks_cores(profile);
    let is_known = profile.is_recorded_evenly() && !profile.meetings_differ();
    if profile.pes.len() < 3 || !is_known || is_crowded && !are_cores_known(profile) {
        return None;
    }
    let works = works(profile, is_crowded);
    let mean = |pes: &[&PeRow]| pes.iter().map(|pe| works(pe)).sum::<f64>() / pes.len().max(1) as f64;
    let all: Vec<&PeRow> = profile.profile.pes.iter().collect();
    let (most, middle) = (all.iter().map(|pe| works(pe)).fold(0.0, f64::max), mean(&all));
    let (mut more, less): (Vec<_>, Vec<_>) = all.into_iter().partition(|pe| works(pe) > (most + middle) / 2.0);
    // Finalization is a meeting of all, beyond the time that other shares are of.
    let at_end = waits_at_end(profile);
    let lost_at_end: f64 = profile.pes.iter().map(|pe| at_end(pe) as f64).sum();
    let all_ns = run_ns(profile) + lost_at_end;
    let in_meetings = profile.late.iter().flat_map(|line| line.by_pe.values()).map(|(_, ns)| *ns as f64).sum::<f64>();
    let in_meetings = in_meetings + lost_at_end;
    let for_flags: f64 = less.iter().map(|pe| pe.time_ns(Class::is_for_others).min(pe.main_ns()) as f64).sum();
    let are_meetings = in_meetings >= for_flags;
    let to_them = match are_meetings {
        true => keep_late(profile, &mut more, &less),
        false => keep_waited_for(profile, &mut more),
    };
    let (more, less) = ((mean(&more), more), (mean(&less), less));
    if more.1.len() < 2 || less.1.is_empty() || more.0 < MORE * less.0 {
        return None;
    }
    let on_core = |pes: &[&PeRow]| pes.iter().map(|pe| pe.on_core_ns() as f64).sum::<f64>() / pes.len() as f64;
    // Who waits stands in line as well, and may seem to have done so while it worked.
    if is_crowded && on_core(&more.1) < MORE * on_core(&less.1) {
        return None;
    }
    let waiting: f64 = less.1.iter().map(|pe| (pe.time_ns(may_wait).min(pe.main_ns()) + at_end(pe)) as f64).sum();
    let elapsed = profile.efficiencies.run.elapsed_most as f64;
    let share = ((most - middle) / elapsed).min(waiting / all_ns);
    // Where they are late in turn, each meeting waits for one of them.
    let share = if are_meetings { share.max(to_them / all_ns) } else { share };
    let share = if is_crowded { share.min(free_share(profile)) } else { share };
    let is_lost = share >= LOST && share * elapsed >= LEAST_NS;
    let is_known = match are_meetings {
        true => to_them >= TO_THEM * in_meetings && to_them >= KNOWN * share * all_ns,
        false => for_flags >= KNOWN * share * all_ns,
    };
    let groups = Groups { more: (more.1, more.0), less: (less.1, less.0), share };
    (is_lost && is_known).then_some(groups)
}

/// Keeps the PEs for which others wait in meetings, and gives what is lost to them where several are late: one that is
/// late alone is what another rule is for.
fn keep_late(profile: &Case<'_>, more: &mut Vec<&PeRow>, less: &[&PeRow]) -> f64 {
    let (mut to_them, mut of_each) = (0.0, vec![0.0; more.len()]);
    for LateLine { late: line, .. } in late_by_line(profile, Regions::Together, profile.symbols) {
        let before: Vec<&PhaseSum> = phases_before(profile, &line).collect();
        let lost = |pe: &&PeRow| line.by_pe.get(&pe.pe).map_or(0.0, |(_, ns)| *ns as f64);
        let are_late: Vec<bool> = more.iter().map(|pe| is_late(&line, &before, pe.pe, more, less)).collect();
        if are_late.iter().filter(|is_late| **is_late).count() < 2 {
            continue;
        }
        let own: f64 = more.iter().map(lost).sum();
        to_them += own;
        of_each.iter_mut().zip(are_late).filter(|(_, is_late)| *is_late).for_each(|(sum, _)| *sum += own);
    }
    let (lost, are_late) = late_at_end(profile, more, less);
    to_them += lost;
    of_each.iter_mut().zip(are_late).filter(|(_, is_late)| *is_late).for_each(|(sum, _)| *sum += lost);
    keep(more, &of_each, to_them);
    to_them
}

/// What is lost in finalization to several that come late, and which of these do: about as late as the last one.
fn late_at_end(profile: &Merged, more: &[&PeRow], less: &[&PeRow]) -> (f64, Vec<bool>) {
    let waits = waits_at_end(profile);
    let mean = less.iter().map(|pe| waits(pe) as f64).sum::<f64>() / less.len().max(1) as f64;
    let are_late: Vec<bool> = more.iter().map(|pe| waits(pe) as f64 <= (1.0 - AS_LONG) * mean).collect();
    let is_last_of_them = more.iter().any(|pe| waits(pe) == 0);
    if are_late.iter().filter(|is_late| **is_late).count() < 2 || !is_last_of_them {
        return (0.0, vec![false; more.len()]);
    }
    (profile.pes.iter().map(|pe| waits(pe) as f64).sum(), are_late)
}

/// Whether a PE comes last to a meeting now and then, or works about as long before it as the one that does. Where that
/// is not known, it may.
fn is_late(line: &Late, before: &[&PhaseSum], pe: u32, more: &[&PeRow], less: &[&PeRow]) -> bool {
    let Some((last, _, most)) = line.worst() else { return false };
    let own = line.by_pe.get(&pe).map_or(0, |(_, ns)| *ns) as f64;
    if own >= FAIR * most as f64 / more.len() as f64 {
        return true;
    }
    let work = |pe: u32| before.iter().map(|sum| sum.work_of(pe) as f64).sum::<f64>();
    let mean = less.iter().map(|row| work(row.pe)).sum::<f64>() / less.len().max(1) as f64;
    before.is_empty() || work(last) > mean && work(pe) - mean >= AS_LONG * (work(last) - mean)
}

/// Keeps the PEs whose work is known to have ended waits of others, where that is known of any, and gives how long
/// these waited.
fn keep_waited_for(profile: &Merged, more: &mut Vec<&PeRow>) -> f64 {
    let lines = WaitLines::of(profile.causes.rows.iter());
    let mut of_each = vec![0.0; more.len()];
    for row in &profile.causes.rows {
        if let Whose::Line(pes) = lines.whose(row)
            && let Some(at) = more.iter().position(|pe| Some(&pe.pe) == pes.last())
        {
            of_each[at] += row.ns as f64;
        }
    }
    let to_them = of_each.iter().sum();
    keep(more, &of_each, to_them);
    to_them
}

/// Keeps those to whom a fair part of what is lost is due.
fn keep(more: &mut Vec<&PeRow>, of_each: &[f64], all: f64) {
    let fair = FAIR * all / of_each.len().max(1) as f64;
    let mut of_each = of_each.iter();
    more.retain(|_| of_each.next().is_some_and(|ns| *ns >= fair));
}

/// What most of it is that some PEs are outside of the library for longer than others. What they stand in line for is
/// no part of it.
fn does(profile: &Merged, more: &[&PeRow], less: &[&PeRow], excess_ns: f64) -> Does {
    let parts = outside_parts(profile);
    let mean = |pes: &[&PeRow]| OutsideParts::mean(pes.iter().map(|pe| parts(pe)));
    match mean(more).most_of_excess(&mean(less), excess_ns) {
        Does::InLine | Does::ComputesInLine => Does::Computes,
        other => other,
    }
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let Groups { more: (more, more_ns), less: (less, less_ns), share } = profile.uneven()?;
    let named = |pes: &[&PeRow]| match pes.len() <= NAMED {
        true => pe_list(&pes.iter().map(|pe| pe.pe).collect::<Vec<u32>>()),
        false => format!("{} of {} PEs", pes.len(), profile.pes.len()),
    };
    let does = does(profile, more, less, more_ns - less_ns);
    let what = match less.len() {
        1 => format!("{} has less to do than the others, for which it waits", named(less)),
        _ if does == Does::Computes => {
            format!("{} have more to do than the others, which wait for them", named(more))
        }
        _ => format!("{} are outside of the library for longer than the others, which wait for them", named(more)),
    };
    let on_core = more.iter().map(|pe| pe.on_core_ns() as f64).sum::<f64>() / more.len() as f64;
    let on_core = match does {
        Does::Computes => String::new(),
        _ => format!(", on a core for {} in all", shown_time(on_core)),
    };
    let at_end = waits_at_end(profile);
    let at_end: f64 = less.iter().map(|pe| at_end(pe) as f64).sum();
    let waiting: f64 = less.iter().map(|pe| pe.time_ns(may_wait) as f64).sum();
    let place = if at_end > waiting { format!("; most in {END}") } else { costliest(profile, |r| may_wait(r.class)) };
    let in_line = match serialized::lacks_cores(profile) {
        true => ", without what they stood in line for a core",
        false => "",
    };
    Some(Finding {
        what,
        evidence: format!(
            "{} outside of the library in the mean of the {} with more{on_core}, {} of the {} with less, which waits \
             {} in all{in_line}{}",
            shown_time(*more_ns),
            more.len(),
            shown_time(*less_ns),
            less.len(),
            shown_time(waiting + at_end),
            place
        ),
        try_this: try_otherwise(does).unwrap_or(
            "share the work out by what its items take instead of by how many there are: every n-th item for a PE in \
             place of a block of them, or each PE takes the next ones from a counter (shmem_atomic_fetch_add) when it \
             is through",
        ),
        share: *share,
    })
}

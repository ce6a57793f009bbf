//! Several PEs that have more to do than the others, which wait for them.

use std::collections::BTreeMap;

use crate::merge::{Merged, PeRow};
use crate::op::{Class, class_of};
use crate::report::{Symbols, shown_time};
use crate::text::pe_list;

use super::serial_pe::{may_wait, outside_ns};
use super::{Finding, costliest, run_ns, serialized};

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
/// PEs that are named.
const NAMED: usize = 8;

/// PEs by what they have to do: those with more, and the others, with the mean of each in nanoseconds.
struct Groups<'p> {
    more: (Vec<&'p PeRow>, f64),
    less: (Vec<&'p PeRow>, f64),
    /// Share of the run that even work would save.
    share: f64,
}

/// Whether a PE is one of several that have more to do than the others.
pub(super) fn is_one_of_several(profile: &Merged, pe: u32) -> bool {
    groups(profile).is_some_and(|groups| groups.more.0.iter().any(|row| row.pe == pe))
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

fn groups(profile: &Merged) -> Option<Groups<'_>> {
    let is_crowded = serialized::lacks_cores(profile);
    if profile.pes.len() < 3 || profile.meetings_differ() || is_crowded && !are_cores_known(profile) {
        return None;
    }
    let worked_ns = |pe: &PeRow| worked_ns(pe, is_crowded);
    let mean = |pes: &[&PeRow]| pes.iter().map(|pe| worked_ns(pe) as f64).sum::<f64>() / pes.len().max(1) as f64;
    let all: Vec<&PeRow> = profile.pes.iter().collect();
    let (most, middle) = (all.iter().map(|pe| worked_ns(pe)).max()? as f64, mean(&all));
    let has_more = |pe: &&PeRow| worked_ns(pe) as f64 > (most + middle) / 2.0;
    let (more, less): (Vec<_>, Vec<_>) = all.into_iter().partition(has_more);
    let (more, less) = ((mean(&more), more), (mean(&less), less));
    if more.1.len() < 2 || less.1.is_empty() || more.0 < MORE * less.0 {
        return None;
    }
    let on_core = |pes: &[&PeRow]| pes.iter().map(|pe| pe.on_core_ns() as f64).sum::<f64>() / pes.len() as f64;
    // Who waits stands in line as well, and may seem to have done so while it worked.
    if is_crowded && on_core(&more.1) < MORE * on_core(&less.1) {
        return None;
    }
    let is_one_of_them = |pe: u32| more.1.iter().any(|row| row.pe == pe);
    // Of flags it is not looked at whose they are: whoever comes late himself passes that on.
    let (in_meetings, to_them) = profile.late.iter().flat_map(|line| &line.by_pe).fold((0.0, 0.0), |sums, (pe, of)| {
        let ns = of.1 as f64;
        (sums.0 + ns, sums.1 + if is_one_of_them(*pe) { ns } else { 0.0 })
    });
    let for_flags: f64 = less.1.iter().map(|pe| pe.time_ns(Class::is_for_others).min(pe.main_ns()) as f64).sum();
    let waiting: f64 = less.1.iter().map(|pe| pe.time_ns(may_wait).min(pe.main_ns()) as f64).sum();
    let elapsed = profile.efficiencies.run.elapsed_most as f64;
    let share = ((most - middle) / elapsed).min(waiting / run_ns(profile));
    // Where they are late in turn, each meeting waits for one of them.
    let share = if in_meetings >= for_flags { share.max(to_them / run_ns(profile)) } else { share };
    let share = if is_crowded { share.min(free_share(profile)) } else { share };
    let is_lost = share >= LOST && share * elapsed >= LEAST_NS;
    let is_known = match in_meetings >= for_flags {
        true => to_them >= TO_THEM * in_meetings && to_them >= KNOWN * share * run_ns(profile),
        false => for_flags >= KNOWN * share * run_ns(profile),
    };
    let groups = Groups { more: (more.1, more.0), less: (less.1, less.0), share };
    (is_lost && is_known).then_some(groups)
}

/// See the module.
pub fn find(profile: &Merged, symbols: &dyn Symbols) -> Option<Finding> {
    let Groups { more: (more, more_ns), less: (less, less_ns), share } = groups(profile)?;
    let named = |pes: &[&PeRow]| match pes.len() <= NAMED {
        true => pe_list(&pes.iter().map(|pe| pe.pe).collect::<Vec<u32>>()),
        false => format!("{} of {} PEs", pes.len(), profile.pes.len()),
    };
    let what = match less.len() {
        1 => format!("{} has less to do than the others, for which it waits", named(&less)),
        _ => format!("{} have more to do than the others, which wait for them", named(&more)),
    };
    let waiting: f64 = less.iter().map(|pe| pe.time_ns(may_wait) as f64).sum();
    let in_line = match serialized::lacks_cores(profile) {
        true => ", without what they stood in line for a core",
        false => "",
    };
    Some(Finding {
        what,
        evidence: format!(
            "{} outside of the library in the mean of the {} with more, {} of the {} with less, which waits {} in \
             all{in_line}{}",
            shown_time(more_ns),
            more.len(),
            shown_time(less_ns),
            less.len(),
            shown_time(waiting),
            costliest(profile, symbols, |routine| class_of(routine).is_some_and(may_wait))
        ),
        try_this: "share the work out by what its items take instead of by how many there are: every n-th item for a \
                   PE in place of a block of them, or each PE takes the next ones from a counter \
                   (shmem_atomic_fetch_add) when it is through",
        share,
    })
}

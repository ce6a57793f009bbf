//! One PE that works while the others wait for it.

use std::collections::BTreeMap;

use crate::merge::{Does, Merged, PeRow, PhaseSum, WaitLines};
use crate::op::{Class, class_of};
use crate::report::{shown_time, try_otherwise};

use super::naps::naps_ns;
use super::{Case, Finding, outside, polling, run_ns, serial_phase};

/// How much more than the mean of the others the one has to work.
pub(super) const MORE: f64 = 1.5;
/// What it has to do more than the next PE, as a share of what it has to do more than the mean of the others.
const ALONE: f64 = 0.5;
/// Share of the run that has to be lost.
pub(super) const LOST: f64 = 0.15;
/// The same where PEs share cores: what the others do while they stand in line is part of the run as well.
const LOST_IN_CROWD: f64 = 0.05;
/// What it has to work more than the others, in nanoseconds: below, it is as likely the machine's noise.
pub(super) const LEAST_NS: f64 = 20e6;

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    in_run(profile).or_else(|| serial_phase::find(profile))
}

fn in_run(profile: &Case<'_>) -> Option<Finding> {
    // Of a job that broke off nobody knows how long each would have worked, nor what they did at level 0.
    if profile.pes.len() < 2 || profile.broke_off() || !profile.is_recorded_evenly() {
        return None;
    }
    let crowds = crowds(profile);
    let naps = naps_ns(profile);
    let work = |pe: &PeRow| work_ns(pe, crowds.contains_key(&*pe.host)).saturating_sub(naps(pe));
    let one = profile.pes.iter().max_by_key(|pe| (work(pe), std::cmp::Reverse(pe.pe)))?;
    let others = || profile.pes.iter().filter(|pe| pe.pe != one.pe);
    // What is known of the others is no more than that, but for standing in line to ask again.
    let asks = polling::waited_ns(profile);
    let most = |pe: &PeRow| match pe.queued_ns() {
        Some(_) => outside_ns(pe).saturating_sub(asks(pe).1),
        None => work(pe),
    };
    let mean = others().map(|pe| most(pe) as f64).sum::<f64>() / (profile.pes.len() - 1) as f64;
    let excess = (work(one) as f64 - mean).min(one.main_ns() as f64);
    let elsewhere = waited_for_others(profile, one.pe);
    let waited = |pe: &PeRow| waited_ns(pe, asks(pe)).saturating_sub(*elsewhere.get(&pe.pe).unwrap_or(&0));
    let waiting: f64 = others().map(|pe| waited(pe) as f64).sum();
    // Spread evenly, all PEs would end earlier by what is left of the excess, as far as there are cores for it.
    let pes = profile.pes.len() as f64;
    // What it stood in line for in a crowd is no part of the excess.
    let does = outside::of_excess(profile, one.pe, excess);
    let does = if matches!(does, Does::InLine | Does::ComputesInLine) { Does::Computes } else { does };
    let works = does == Does::Computes;
    let wide = crowds.get(&*one.host).filter(|_| works).map_or(pes, |&cores| f64::from(cores));
    let saved = excess * (1.0 - 1.0 / wide) * pes;
    let share = saved.min(waiting) / run_ns(profile);
    let (least, stood) = match crowds.contains_key(&*one.host) {
        true => (LOST_IN_CROWD, false),
        false => (LOST, was_without_core(one, excess)),
    };
    // Who has a bit more to do before each meeting is what another rule is for.
    let is_habit = super::barrier_late::late_pe(profile) == Some(one.pe);
    let is_one = is_alone(work(one), others().map(work), mean) && work(one) as f64 >= MORE * mean;
    if !is_one || excess < LEAST_NS || share < least || stood || is_habit {
        return None;
    }
    let alone = if works { "works alone" } else { "is outside of the library alone" };
    let between = longest_phase(profile, one.pe);
    let asleep = match others().map(&naps).fold(0, u64::saturating_add) {
        0 => String::new(),
        ns => format!(", {} of it asleep between tests", shown_time(ns as f64)),
    };
    Some(Finding {
        what: format!("PE {} {alone} for {} while others wait", one.pe, shown_time(excess)),
        evidence: format!(
            "{} outside of the library{}, {} in the mean of the others, who wait {} together{asleep}{between}",
            shown_time(work(one) as f64),
            how(profile, one, excess, does),
            shown_time(mean),
            shown_time(waiting)
        ),
        try_this: try_otherwise(does)
            .unwrap_or("give each PE a part of that work; or let the others go on with what does not need it"),
        share,
    })
}

/// How a PE is outside of the library: with threads, on a core, with a lock.
fn how(profile: &Merged, one: &PeRow, excess: f64, does: Does) -> String {
    let threads = if profile.pes.iter().any(|pe| pe.threads > 1) { " with all its threads" } else { "" };
    let mut how = threads.to_owned();
    how.push_str(&outside::on_core(profile, one, does));
    if one.held_ns as f64 > excess / 2.0 {
        how.push_str(&format!(", {} of it with a lock", shown_time(one.held_ns as f64)));
    }
    how
}

/// Time in which a PE waits, in calls or by asking.
fn waited_ns(pe: &PeRow, (asks_ns, between_ns): (u64, u64)) -> u64 {
    // Tests of locks are both.
    let tests = asks_ns.min(pe.time_ns(|class| class == Class::Lock));
    pe.time_ns(may_wait).max(tests).saturating_sub(tests).saturating_add(asks_ns + between_ns).min(pe.main_ns())
}

/// How long each PE waited for flags, signals and variables that others than this one are known to have set late.
fn waited_for_others(profile: &Merged, one: u32) -> BTreeMap<u32, u64> {
    let rows = || profile.causes.rows.iter().filter(|row| class_of(row.site.routine) == Some(Class::Wait));
    let lines = WaitLines::of(rows());
    let mut sums = BTreeMap::new();
    for row in rows().filter(|row| row.pe != one && lines.whose(row).is_not_of(one)) {
        let sum: &mut u64 = sums.entry(row.pe).or_default();
        *sum = sum.saturating_add(row.ns);
    }
    sums
}

/// Whether no other PE has nearly as much to do as the one that has most, compared with the `mean` of the others.
pub(super) fn is_alone(most: u64, others: impl Iterator<Item = u64>, mean: f64) -> bool {
    let next = others.max().unwrap_or(0) as f64;
    most as f64 - next >= ALONE * (most as f64 - mean)
}

/// The two lines between which a PE works most of what it works more than the others.
fn longest_phase(profile: &Case<'_>, pe: u32) -> String {
    let most = profile.line_phases().iter().filter(|phase| phase.sum.most().1 == pe && phase.sum.pes() > 0);
    let more = |sum: &PhaseSum| sum.most().0.saturating_sub(sum.work_ns() / sum.pes());
    let most = most.max_by_key(|phase| more(&phase.sum));
    most.map_or_else(String::new, |phase| format!(", most of it {}", phase.name()))
}

/// Whether PEs may wait for others that work in calls of this class.
pub(super) fn may_wait(class: Class) -> bool {
    class.waits() || matches!(class, Class::Memory | Class::Team)
}

/// Hosts with more PEs than cores, and their cores.
fn crowds(profile: &Merged) -> BTreeMap<&str, u32> {
    let mut pes: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for pe in &profile.pes {
        let host = pes.entry(&*pe.host).or_default();
        *host = (host.0 + 1, host.1.max(pe.system.cores));
    }
    let crowds = pes.into_iter().filter(|(_, (pes, cores))| *cores > 0 && pes > cores);
    crowds.map(|(host, (_, cores))| (host, cores)).collect()
}

/// Time of a PE outside of the library, of all its threads: those that wait for others to end are a part of it that PEs
/// have alike.
pub(super) fn outside_ns(pe: &PeRow) -> u64 {
    pe.outside_ns()
}

/// What a PE worked outside of the library at least. Where PEs share cores, a part of the time there is standing in
/// line. Where that is not known, no more than it was on a processor for.
fn work_ns(pe: &PeRow, is_crowded: bool) -> u64 {
    let outside = outside_ns(pe);
    if !is_crowded {
        return outside;
    }
    if let Some(queued) = pe.queued_outside_ns() {
        return outside.saturating_sub(queued);
    }
    let on_core = pe.on_core_ns();
    // Calls that do not wait are on it, too.
    let calls = pe.time_ns(|class| class.is_library_time() && !class.waits());
    if on_core > 0 { outside.min(on_core.saturating_sub(calls)) } else { outside }
}

/// Whether the PE stood in line for a processor for a good part of what it seems to have worked more. Where that is not
/// known, it may have whenever it was on none.
fn was_without_core(pe: &PeRow, excess_ns: f64) -> bool {
    let on_core = pe.on_core_ns();
    let without = pe.threads_ns().saturating_sub(on_core);
    on_core > 0 && pe.queued_outside_ns().unwrap_or(without).min(without) as f64 > excess_ns / 2.0
}

//! Calls of all PEs of a team, as barriers, that wait for one PE, which is always the same.

use crate::merge::{Does, Late, Merged, PeRow, SiteRow};
use crate::op::{Class, class_of};
use crate::report::{LateLine, Regions, late_by_line, located, place, shown_time, try_otherwise};

use super::room::phases_before;
use super::serial_pe::{may_wait, outside_ns};
use super::{Case, Finding, outside, run_ns, uneven_work};

/// Share of the run time that has to be lost: some is lost at every barrier.
const LOST: f64 = 0.10;
/// The same at another line.
const ALSO: f64 = 0.15;
/// Share of it that has to be due to one PE.
const ONE_PE: f64 = 0.7;
/// Share of its meetings to which it has to come last, unless it works longer.
const OFTEN: f64 = 0.8;
/// Meetings from which on it is a habit.
const MEETINGS: u64 = 5;

/// The PE that is late, where the rule speaks: what it does more then is done a bit at a time.
pub(super) fn late_pe(profile: &Case<'_>) -> Option<u32> {
    late(profile).first().map(|found| found.pe)
}

/// Meetings at one line, and who comes late to them.
struct Found {
    line: Late,
    /// Who called there, where that is told of what is lost to this PE.
    caller: Option<String>,
    pe: u32,
    /// How often it came last.
    times: u64,
    /// What the others lost by it.
    lost: u64,
    /// Share of the run that is lost in these meetings.
    share: f64,
}

/// The lines at which one PE is late, that at which most is lost first.
fn late(profile: &Case<'_>) -> Vec<Found> {
    if profile.meetings_differ() {
        return Vec::new();
    }
    let at_line = |LateLine { late, callers, .. }: LateLine| -> Vec<Found> {
        // A line of a layer of the program: the calls of it by which most is lost, where that alone is worth a word.
        let named = callers.into_iter().filter(|(caller, _)| caller.is_some());
        let named: Vec<Found> = named.filter_map(|(caller, late)| late_at(profile, late, caller)).collect();
        if named.is_empty() { late_at(profile, late, None).into_iter().collect() } else { named }
    };
    late_by_line(profile, Regions::Together, profile.symbols).into_iter().flat_map(at_line).collect()
}

fn late_at(profile: &Case<'_>, line: Late, caller: Option<String>) -> Option<Found> {
    let (pe, times, lost) = line.worst()?;
    let share = line.lost_ns as f64 / run_ns(profile);
    // With two PEs one of both is always the last: it has to be the same one nearly always, or to work longer.
    let often = times as f64 >= OFTEN * line.meetings_of(pe) as f64 || works_longer(profile, &line, pe);
    let is_one = lost as f64 >= ONE_PE * line.lost_ns as f64;
    let is_late = line.meetings >= MEETINGS && share >= LOST && is_one && often && !waits_itself(profile, &line, pe);
    is_late.then_some(Found { line, caller, pe, times, lost, share })
}

/// How much more of some time a PE has than the others in the mean.
fn excess(profile: &Merged, pe: u32, time_ns: impl Fn(&PeRow) -> u64) -> Option<f64> {
    let time = |row: &PeRow| time_ns(row) as f64;
    let own = profile.pes.iter().find(|row| row.pe == pe).map(time)?;
    let others = profile.pes.iter().filter(|row| row.pe != pe);
    Some(own - others.map(time).sum::<f64>() / (profile.pes.len() as f64 - 1.0).max(1.0))
}

/// Whether a PE has more of some time than the others in the mean, by half of what it had each of them lose or more.
fn explains(profile: &Merged, line: &Late, pe: u32, time_ns: impl Fn(&PeRow) -> u64) -> bool {
    excess(profile, pe, time_ns).is_some_and(|more| more > each_loses(line, pe) / 2.0)
}

/// Whether a PE that is late now and then works longer than the others.
fn works_longer(profile: &Merged, line: &Late, pe: u32) -> bool {
    explains(profile, line, pe, |row| outside_ns(row).saturating_sub(row.queued_outside_ns().unwrap_or(0)))
}

/// Whether a PE comes last to meetings since it waits for another one before: for flags, signals or locks, or in
/// meetings of others.
pub(crate) fn waits_itself(profile: &Case<'_>, line: &Late, pe: u32) -> bool {
    explains(profile, line, pe, |row| row.time_ns(Class::is_for_others)) || waits_in_other_meetings(profile, line, pe)
}

/// Whether a PE waits elsewhere for half as long as it has each of the others wait here or longer, and has not so much
/// more to do right before.
fn waits_in_other_meetings(profile: &Case<'_>, line: &Late, pe: u32) -> bool {
    let least = each_loses(line, pe) / 2.0;
    let own = profile.pes.iter().find(|row| row.pe == pe);
    let is_meeting = |class: Class| may_wait(class) && !class.is_for_others();
    if own.is_none_or(|row| (row.time_ns(is_meeting) as f64) < least) {
        return false;
    }
    let more = phases_before(profile, line).map(|sum| {
        let own = sum.work_of(pe);
        own as f64 - (sum.work_ns() - own) as f64 / sum.pes().saturating_sub(1).max(1) as f64
    });
    more.sum::<f64>() < least
}

/// What each of the others loses by a PE at a line.
fn each_loses(line: &Late, pe: u32) -> f64 {
    let lost = line.by_pe.get(&pe).map_or(0, |(_, lost)| *lost) as f64;
    lost / f64::from(line.members_with(pe).saturating_sub(1).max(1))
}

/// Where it is, for people.
fn site(profile: &Case<'_>, Found { line, caller, .. }: &Found) -> String {
    let at = |site| format!("; most {}", located(&place(Some(site), profile.symbols)));
    let site = line.place().map_or(String::new(), at);
    caller.as_ref().map_or_else(|| site.clone(), |caller| format!("{site}, called from {caller}"))
}

/// Another line at which one PE is late, by which as much is lost as is worth a finding.
fn also(profile: &Case<'_>, others: impl Iterator<Item = Found>) -> String {
    let worth = others.filter(|found| found.share >= ALSO && !uneven_work::is_one_of_several(profile, found.pe));
    let Some(found) = worth.max_by(|a, b| a.share.total_cmp(&b.share)) else { return String::new() };
    let site = site(profile, &found).replacen("; most", "", 1);
    format!("; and {} waits for PE {}{site}, up to {:.0} %", found.line.routine, found.pe, 100.0 * found.share)
}

/// See the module.
pub fn find(profile: &Case<'_>) -> Option<Finding> {
    let mut all = late(profile).into_iter();
    let found = all.next()?;
    let (site, also) = (site(profile, &found), also(profile, all));
    let Found { line, pe, times, lost, share, .. } = found;
    let does = outside::of_excess(profile, pe, each_loses(&line, pe));
    let region = if line.region.is_empty() { String::new() } else { format!(" in region {}", line.region) };
    let meetings = line.meetings_of(pe);
    let rare = line.rare(pe);
    // Without it, the others would wait for the next one that comes late.
    if uneven_work::is_one_of_several(profile, pe) {
        return None;
    }
    let habit = match rare {
        Some((count, ..)) => format!(" now and then: {count} of {meetings} times it is very late"),
        None => format!(": it was last {times} of {meetings} times"),
    };
    let then = rare.map_or_else(String::new, |(count, lost, at)| {
        let at = shown_time(at as f64);
        format!(", {} of it in {count} of them, the worst {at} after the job began", shown_time(lost as f64))
    });
    let calls = in_calls(profile, &line, pe);
    let try_this = match &calls {
        Some((_, try_calls)) if rare.is_none() => try_calls,
        _ => try_this(&line.routine, rare.is_some(), does),
    };
    Some(Finding {
        what: format!("{}{region} waits for PE {pe}{habit}", line.routine),
        evidence: format!(
            "the others lost {} by it, up to {} at a time{then}{}{site}{also}",
            shown_time(lost as f64),
            shown_time(line.max_skew_ns as f64),
            calls.map_or_else(|| how(profile, pe, does), |(how, _)| how),
        ),
        try_this,
        share,
    })
}

/// Calls that a PE may be in for longer than others, and what to try then.
type Calls = (fn(Class) -> bool, &'static str);

const CALLS: [Calls; 3] = [
    (
        |class| matches!(class, Class::Put | Class::Signal | Class::Order),
        "let the others send or fetch a part of that; send it as it is ready, with the _nbi forms, while the PE \
         computes",
    ),
    (
        |class| class == Class::Get,
        "let those that have the data send it, as it is ready; fetch it with the _nbi forms while the PE computes; \
         blocks in place of words",
    ),
    (
        |class| class == Class::Amo,
        "share that out among the PEs; collect what goes to one PE, and send it with one put",
    ),
];

/// The calls because of which a PE is late: where it is in them, and what to try.
fn in_calls(profile: &Case<'_>, line: &Late, pe: u32) -> Option<(String, &'static str)> {
    let (of, try_this) = CALLS.into_iter().find(|(of, _)| explains(profile, line, pe, |row| row.time_ns(of)))?;
    let is_it = |row: &&SiteRow| row.sum.most.1 == pe && class_of(&row.routine).is_some_and(of);
    let most = profile.sites.iter().filter(is_it).max_by_key(|row| row.sum.most.0)?;
    let longer = shown_time(excess(profile, pe, |row| row.time_ns(of))?);
    let at = located(&place(most.place(), profile.symbols));
    let routine = &most.routine;
    Some((format!("; PE {pe} is in {routine} and the like for {longer} longer than the others, most {at}"), try_this))
}

/// How long it was outside of the library, and how long of that on a core, where it does not compute.
fn how(profile: &Merged, pe: u32, does: Does) -> String {
    let row = profile.pes.iter().find(|row| row.pe == pe).filter(|_| does != Does::Computes);
    let outside = |row: &PeRow| {
        let time = shown_time(outside_ns(row) as f64);
        format!("; PE {pe} is outside of the library for {time}{}", outside::on_core(profile, row, does))
    };
    row.map_or_else(String::new, outside)
}

fn try_this(routine: &str, is_rare: bool, does: Does) -> &'static str {
    let of_work = match class_of(routine) {
        _ if is_rare => {
            "look at what that PE does then: a file, an allocation, memory that is touched for the first time; let \
             each PE do a part of it, or the others go on meanwhile"
        }
        Some(Class::Memory | Class::Team) => {
            "give that PE less work; allocate and make teams once, before the loop: all PEs wait for each other in \
             these calls"
        }
        _ if does == Does::ComputesInLine => {
            "give that PE less work, or the others something to do: a signal to those who need its data instead of a \
             barrier. It stands in line for a core for as long as the others do for the same work: as many PEs as \
             there are cores, or a machine where nothing else runs, make all of it shorter"
        }
        _ => {
            "give that PE less work, or the others something to do: a signal to those who need its data instead of a \
             barrier"
        }
    };
    try_otherwise(does).unwrap_or(of_work)
}

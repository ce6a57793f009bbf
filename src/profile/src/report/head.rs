//! The head of every report.

use std::fmt::Write as _;

use super::symbols::Symbols;
use super::table::Table;
use super::{ends, merge, notes, units};
use crate::advice;
use crate::merge::{Factors, Merged, PeRow};
use crate::model::Routine;
use crate::op::Class;
use crate::text::visible;

/// Regions that have a column beside the run.
const REGIONS: usize = 4;
/// Share of the run's time that a region has to lose to have one.
const WORTH: f64 = 0.01;

/// Notes on ends of PEs, and others, as many of each.
const NOTES: usize = 12;
/// Share of the run that has to be saved for it to be told.
const WHAT_IF: f64 = 0.05;

/// What stands above the report: that of every view, and how well it ran.
pub(super) fn text(profile: &Merged, symbols: &dyn Symbols) -> String {
    let mut out = of_view(profile, symbols);
    // What a run would gain is not known of one that did not come to its end: only what kept it from that.
    let is_whole = !profile.broke_off();
    let is_even = profile.is_recorded_evenly();
    let factors = if is_whole && is_even { factors(profile) } else { String::new() };
    if !factors.is_empty() {
        let _ = write!(out, "\n{factors}");
    }
    if let Some(line) = what_if(profile).filter(|_| is_whole && is_even) {
        let _ = write!(out, "\n{}", super::table::filled(&line));
    }
    let first = advice::findings(profile, symbols).into_iter().find(|(rule, _)| is_whole || advice::is_of_end(rule));
    if let Some((rule, first)) = first {
        let share = 100.0 * first.share;
        let line = format!("first finding: {} [{rule}, up to {share:.0} % of the run]", visible(&first.what));
        let _ = write!(out, "\n{}", super::table::filled(&line));
    }
    out
}

/// What stands above every view: what was run, and what to know before trusting its numbers.
pub(super) fn of_view(profile: &Merged, symbols: &dyn Symbols) -> String {
    let job = &profile.job;
    let program = if job.program.is_empty() { "(program not known)" } else { &job.program };
    let command = visible(&[program, &job.arguments].join(" "));
    let hosts = merge::hosts(profile);
    // The numbers of a host that is lost are lost with it.
    let known = profile.pes.len();
    let of_them = if (known as u64) < u64::from(job.npes) { format!(", {known} of them here,") } else { String::new() };
    let on = match hosts.as_slice() {
        [] => of_them,
        [host] => format!("{of_them} on {host}"),
        several => format!("{of_them} on {} hosts", several.len()),
    };
    // Its begin is in the same file as its end.
    let is_known = job.start_realtime_ns > 0 || job.exit_status.is_some();
    let wall = if job.wall_ns > 0 { format!(", wall time {}", units::time(job.wall_ns as f64)) } else { String::new() };
    let status = match job.exit_status {
        Some(status) => format!(", exit status {status}"),
        None if is_known => ", not ended".to_owned(),
        None => ", how it ended is not known".to_owned(),
    };
    let pes = if job.npes == 1 { "1 PE".to_owned() } else { format!("{} PEs", job.npes) };
    let level = profile
        .pes
        .iter()
        .map(|pe| pe.level)
        .max()
        .map(|level| format!(", profiling level {level}"))
        .unwrap_or_default();
    let mut out = format!("profile of {}\n", super::text::shorten(command.trim_end(), super::table::width() - 11));
    let _ = writeln!(out, "{pes}{on}{wall}{status}");
    if job.start_realtime_ns > 0 {
        let library = if job.library.is_empty() { String::new() } else { format!(", {}", visible(&job.library)) };
        let _ = writeln!(out, "started {}{level}{library}", units::date(job.start_realtime_ns));
    }
    let ends = ends::ends(profile);
    out.push_str(&ends::broke_off(profile).map(super::table::filled).unwrap_or_default());
    for note in ends.iter().take(NOTES) {
        out.push_str(&super::table::filled(&format!("note: {note}")));
    }
    if let Some(text) = overhead(profile) {
        out.push_str(&super::table::filled(&text));
    }
    if let Some(line) = oversubscribed(profile) {
        out.push_str(&super::table::filled(&line));
    }
    let notes = notes::other_notes(profile, symbols);
    for note in notes.iter().take(NOTES) {
        out.push_str(&super::table::filled(&format!("note: {note}")));
    }
    let left_out = ends.len().saturating_sub(NOTES) + notes.len().saturating_sub(NOTES);
    if left_out > 0 {
        let _ = writeln!(out, "note: {left_out} more notes in the JSON report");
    }
    out
}

/// PEs that efficiencies are of.
pub(super) fn whole_pes(profile: &Merged) -> u64 {
    profile.pes.iter().filter(|pe| !pe.incomplete).count() as u64
}

/// What is saved where data takes no time: that of transfers, or mostly that of barriers.
const MOVING: &str = "moving data in no time would save";
const MEETING: &str = "barriers in no time once all are there, and moving data, would save";

/// What the factor that costs most would save, were it perfect; none where that is little.
fn what_if(profile: &Merged) -> Option<String> {
    let run = &profile.efficiencies.run;
    let savings = run.savings(whole_pes(profile));
    let [balance, data, waiting] = savings;
    // What a barrier takes once all are there is time in the library for which nobody is waited, too.
    let moves = |pe: &PeRow| pe.time_ns(|c| c.is_library_time() && !matches!(c, Class::Barrier) && !c.is_for_others());
    let moves = profile.pes.iter().map(moves).max().unwrap_or(0);
    let (saved, what) = [
        (balance, "perfect balance would save"),
        (data, if 2 * moves >= data { MOVING } else { MEETING }),
        (waiting, "not waiting for others would save"),
    ]
    .into_iter()
    .rev()
    .max_by_key(|(ns, _)| *ns)?;
    let time = |ns: u64| units::time(ns as f64);
    let is_worth = saved > 0 && saved as f64 >= WHAT_IF * run.elapsed_most as f64 && profile.pes.len() > 1;
    // Whoever waits where PEs share cores leaves his to others.
    let cores = if oversubscribed(profile).is_some() { ", with a core for each PE" } else { "" };
    is_worth.then(|| format!("what if: {what} at most {} of {}{cores}", time(saved), time(run.elapsed_most)))
}

/// What profiling itself took. `None` for profiles that do not say.
fn overhead(profile: &Merged) -> Option<String> {
    let costs = || profile.pes.iter().map(|pe| pe.cost).filter(|cost| cost.timed_ns > 0.0);
    let pes = costs().count() as f64;
    if pes == 0.0 {
        return None;
    }
    let counted = costs().map(|cost| cost.counted_ns).sum::<f64>() / pes;
    let timed = costs().map(|cost| cost.timed_ns).sum::<f64>() / pes;
    let all: f64 = profile.pes.iter().map(|pe| pe.overhead_ns as f64).sum();
    // What is recorded between calls that the processor has under way at once takes from how many those are.
    let is_more = profile.routines.iter().any(Routine::is_bounded);
    Some(format!(
        "profiling took {} {}{}, {} % of the run ({} a counted call, {} a timed one)",
        if is_more { "at least" } else { "about" },
        units::time(all),
        if profile.pes.len() > 1 { format!(" summed over {} PEs", profile.pes.len()) } else { String::new() },
        units::percent(all, merge::run_time_ns(&profile.pes)),
        units::time(counted),
        units::time(timed),
    ))
}

/// A host on which PEs have to share processors: what they wait for is not each other alone.
fn oversubscribed(profile: &Merged) -> Option<String> {
    let hosts = merge::hosts(profile);
    let on = |host: &str| -> Vec<&PeRow> { profile.pes.iter().filter(|pe| &*pe.host == host).collect() };
    let excess = |pes: &[&PeRow]| {
        let cores = pes.iter().map(|pe| pe.system.cores).max().unwrap_or(0);
        (cores > 0).then_some((pes.len() as f64 / f64::from(cores), cores)).filter(|_| pes.len() > cores as usize)
    };
    let crowded = hosts.iter().filter_map(|host| excess(&on(host)).map(|(excess, cores)| (excess, cores, *host)));
    let (_, cores, host) = crowded.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.2.cmp(a.2)))?;
    let pes = on(host);
    let quota = if pes.iter().any(|pe| pe.system.has_quota_of_cores()) { "a quota of " } else { "" };
    let bound = if pes.iter().all(|pe| pe.system.allowed < cores) { "bound" } else { "not bound" };
    let cores = units::cores(cores);
    let others = if hosts.len() > 1 { ", as on other hosts" } else { "" };
    let (count, host) = (pes.len(), visible(host));
    Some(format!("{count} PEs on {host}, {quota}{cores}, {bound}{others}: waits include time without a core"))
}

/// Rows of the table: title, and which factor it shows.
type Row = (&'static str, fn(&Factors) -> f64);

const ROWS: [Row; 5] = [
    ("parallel efficiency", |f| f.parallel),
    (" = load balance", |f| f.balance),
    (" x communication", |f| f.communication),
    ("   = transfer", |f| f.transfer),
    ("   x serialisation", |f| f.serialisation),
];

/// The factors of the run, and of the regions that lose most time.
fn factors(profile: &Merged) -> String {
    let pes = whole_pes(profile);
    let times = &profile.efficiencies;
    let Some(run) = times.run.factors(pes) else { return String::new() };
    let worth = WORTH * times.run.elapsed_most as f64 * pes as f64;
    let named = times.regions.iter().filter(|(name, _)| !name.is_empty() && times.has_regions());
    let mut regions: Vec<(&str, u64, Factors)> = named
        .filter_map(|(name, times)| Some((name.as_str(), times.lost_ns(pes), times.factors(pes)?)))
        .filter(|(_, lost, _)| *lost as f64 > worth)
        .collect();
    regions.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    regions.truncate(REGIONS);
    let names: Vec<String> = regions.iter().map(|(name, ..)| super::text::shorten(&visible(name), 11)).collect();
    let mut columns = vec![("run", 9)];
    columns.extend(names.iter().map(|name| (name.as_str(), super::table::columns(name).max(7) + 2)));
    let mut table = Table::new("", 20, &columns);
    for (title, factor) in ROWS {
        let all = [&run].into_iter().chain(regions.iter().map(|(.., factors)| factors));
        table.row(title, &all.map(|factors| format!("{:.1} %", 100.0 * factor(factors))).collect::<Vec<_>>());
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Profile, Progress};
    use crate::op;
    use crate::report::NoSymbols;
    use crate::tables::{Sync, Team};

    #[test]
    fn nothing_is_said_of_a_job_of_which_nothing_is_known() {
        let pe = |pe| Pe { pe, incomplete: true, ..Pe::default() };
        let head = text(&Merged::from(&Profile { pes: vec![pe(0), pe(1)], ..Profile::default() }), &NoSymbols);
        assert!(head.contains("how it ended is not known"), "{head}");
        for claim in ["wall time", "not ended", "what if", "efficiency"] {
            assert!(!head.contains(claim), "{claim} is in\n{head}");
        }
    }

    /// What one PE did at level 0 is no imbalance.
    #[test]
    fn factors_are_of_what_all_pes_recorded() {
        let said = |unrecorded_ms: [u64; 2]| {
            let pe = |pe: u32| {
                let mut row = Pe { pe, progress: Progress::Finalized, end_ns: 1_000_000_000, ..Pe::default() };
                row.tables.system.unrecorded_ns = unrecorded_ms[pe as usize] * 1_000_000;
                row
            };
            let merged = Merged::from(&Profile { pes: vec![pe(0), pe(1)], ..Profile::default() });
            let found = crate::advice::findings(&merged, &NoSymbols).len();
            let text = text(&merged, &NoSymbols);
            (text.contains("efficiency"), text.contains("what if"), found)
        };
        assert_eq!(said([0, 500]), (false, false, 0));
        assert_eq!(said([500, 500]), (true, false, 0));
    }

    /// What barriers take once all are there is no data that moves.
    #[test]
    fn barriers_for_which_nobody_is_late_move_no_data() {
        const MS: u64 = 1_000_000;
        let barrier = op::find("shmem_barrier_all").expect("a routine");
        let said = |put_ms: u64, barriers_ms: u64| {
            let of = |name, class, ms| {
                let mut r = Routine::new(name, class);
                (r.calls[2], r.timed_calls, r.total_ns) = (10, 10, ms * MS);
                r
            };
            let routines =
                vec![of("shmem_putmem", Class::Put, put_ms), of("shmem_barrier_all", Class::Barrier, barriers_ms)];
            let pe = |pe| {
                let mut pe = Pe { pe, progress: Progress::Initialized, end_ns: 1000 * MS, ..Pe::default() };
                pe.routines = routines.clone();
                pe.tables.teams = vec![Team { stride: 1, size: 2, calls: 10, ..Team::default() }];
                pe.tables.sync_every = 1;
                let at = |n: u64| (n * 100 * MS, n * 100 * MS + barriers_ms * MS / 10);
                let sync = |number| Sync {
                    op: barrier,
                    number,
                    arrived_ns: at(number).0,
                    left_ns: at(number).1,
                    ..Sync::default()
                };
                pe.tables.syncs = (0..10).map(sync).collect();
                pe
            };
            what_if(&Merged::from(&Profile { pes: vec![pe(0), pe(1)], ..Profile::default() })).unwrap_or_default()
        };
        assert_eq!(said(350, 50), "what if: moving data in no time would save at most 400 ms of 1.00 s");
        let barriers =
            "what if: barriers in no time once all are there, and moving data, would save at most 400 ms of 1.00 s";
        assert_eq!(said(20, 380), barriers);
    }
}

//! The report for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::balance::{WAITING, balance};
use super::extremes::{shown_pes, waiting_ns};
use super::grid::Grid;
use super::symbols::Symbols;
use super::table::{self, Table};
use super::{Options, closing, head, merge, sort, units, view};
use crate::merge::{Merged, PeRow, WaitLines, Whose};
use crate::model::Routine;

/// PEs listed one by one in the report by routine; with more, see [`shown_pes`].
const PES_LISTED: usize = 16;

/// The report as text, as wide as [`super::set_width`] says.
pub fn text(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> String {
    let is_all = options.view == view::ALL;
    let head = if is_all || options.view == view::USUAL { head::text } else { head::of_view };
    let mut parts = vec![head(profile, symbols)];
    if is_all {
        for view in view::whole_views() {
            let options = Options { view, ..*options };
            parts.push(format!("{}\n{}\n", view.title, "=".repeat(view.title.chars().count())));
            parts.extend(body(profile, &options, symbols));
        }
    } else {
        parts.extend(body(profile, options, symbols));
    }
    parts.push(closing::text(profile, symbols));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// A view without the header.
fn body(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<String> {
    let view = options.view;
    if let Some(text) = view.text {
        return text(profile, options);
    }
    let mut grids = view::grids(view, profile, options, symbols);
    grids.retain(|grid| !grid.on_request || !view.is_whole());
    let mut parts: Vec<String> = grids.iter().map(grid_text).collect();
    if grids.iter().all(|grid| grid.rows.is_empty() && grid.empty.is_empty()) {
        parts.push("this profile has nothing of it\n".to_owned());
    }
    parts
}

/// The view of routines, which is a report of its own.
pub(super) fn of_routines(profile: &Merged, options: &Options) -> Vec<String> {
    vec![by_routine(profile, options), troubles(profile), balance_of(&profile.pes), waiting(profile)]
}

/// How even PEs are; nothing where there is one.
pub(super) fn balance_of(pes: &[PeRow]) -> String {
    if pes.len() > 1 { balance_table(pes) } else { String::new() }
}

fn grid_text(grid: &Grid) -> String {
    if grid.rows.is_empty() { grid.text() } else { format!("{}\n{}", grid.title, grid.text()) }
}

/// One call in fewer than so many is most of them.
const MOST: f64 = 1.5;

/// How much the estimated times can be trusted.
fn sampling(routines: &[Routine]) -> String {
    let estimated = || routines.iter().filter(|r| r.estimated && r.timed_calls > 0);
    let sum = |of: fn(&Routine) -> u64| estimated().map(of).fold(0_u64, u64::saturating_add);
    let (calls, timed) = (sum(Routine::all_calls), sum(|r| r.timed_calls));
    let one_in = match calls as f64 / timed.max(1) as f64 {
        few if few < MOST => "most of them".to_owned(),
        some if some < 9.95 => format!("one in {some:.1}"),
        many => format!("one in {many:.0}"),
    };
    let worst = estimated()
        .filter(|r| r.total_ns > 0 && !r.is_bounded())
        .map(|r| (100.0 * r.total_stderr_ns() / r.total_ns as f64, r.name.as_str()))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let error = worst.map(|(percent, name)| format!("Standard error of the totals: up to {percent:.1} % ({name}).\n"));
    format!(
        "~ estimated: {} of {} short calls were timed, {one_in}. Counts are exact{}.\n{}{}",
        units::count(timed),
        units::count(calls),
        if routines.iter().any(|r| r.sampled_sites) { " but for what a note says" } else { "" },
        error.unwrap_or_default(),
        bounds(routines),
    )
}

/// Where the time of the samples came to more than had passed.
fn bounds(routines: &[Routine]) -> String {
    let Some(r) = routines.iter().filter(|r| r.is_bounded()).max_by_key(|r| r.denied_ns) else { return String::new() };
    let apart = r.mean_ns();
    let alone = apart + r.denied_ns as f64 / r.all_calls().max(1) as f64;
    format!(
        "< bounded: calls that overlap in the processor, or lose their core, take longer where they are timed than \
         others ({}: {} and at most {}). Their total is at most the time that no other call took, and that the PE had \
         a core.\n",
        r.name,
        units::time(alone),
        units::time(apart),
    )
}

fn by_routine(profile: &Merged, options: &Options) -> String {
    if profile.routines.is_empty() {
        return "no call was recorded\n".to_owned();
    }
    let (setup, mut routines): (Vec<Routine>, Vec<Routine>) =
        profile.routines.iter().cloned().partition(merge::is_setup);
    let run_time = merge::run_time_ns(&profile.pes);
    let sum = |of: fn(&Routine) -> u64| routines.iter().map(of).fold(0, u64::saturating_add);
    let (calls, bytes) = (sum(Routine::all_calls), sum(Routine::traffic_bytes));
    let spent = sum(Routine::spent_ns);
    // Handlers run within other calls.
    let within = routines.iter().filter(|r| !r.class.is_library_time()).map(Routine::spent_ns);
    let spent = spent.saturating_sub(within.fold(0, u64::saturating_add));
    let allocates = routines.iter().any(|r| r.all_bytes() > r.traffic_bytes());
    let estimated = routines.iter().any(|r| r.estimated);
    let kinds = routines.len();
    let all_routines = routines.clone();
    let cut = sort::select(&mut routines, options.sort, options.top);

    let longest = routines.iter().chain(&setup).map(|r| r.name.len()).max().unwrap_or(0);
    let columns = routine_columns(longest);
    let titles: Vec<(&str, usize)> = columns.iter().map(|&at| ROUTINE_COLUMNS[at]).collect();
    let mut table = Table::new("routine", longest, &titles);
    let row = |table: &mut Table, name: &str, cells: &[String; 8]| {
        table.row(name, &columns.iter().map(|&at| cells[at].clone()).collect::<Vec<_>>());
    };
    for r in &routines {
        row(&mut table, &r.name, &routine_cells(r, run_time));
    }
    if cut > 0 {
        table.line(&format!("... and {cut} more routines"));
    }
    if kinds > 1 {
        let mut cells = <[String; 8]>::default();
        (cells[0], cells[1], cells[2]) = (units::count(calls), payload(bytes), units::time(spent as f64));
        cells[7] = units::percent(spent as f64, run_time);
        row(&mut table, "all", &cells);
    }
    for r in &setup {
        row(&mut table, &r.name, &routine_cells(r, run_time));
    }
    let mut text = table.finish();
    if let Some(note) = super::view::are_sums("Calls, bytes and totals", profile) {
        let _ = writeln!(text, "{note}");
    }
    if kinds > 1 && allocates {
        text.push_str("The bytes of all are without those of allocations.\n");
    }
    if !setup.is_empty() {
        text.push_str(&super::table::filled(
            "% run is of the time from the end of initialization to the begin of finalization.",
        ));
    }
    if estimated {
        text.push_str(&super::table::filled(&sampling(&all_routines)));
    }
    text
}

const ROUTINE_COLUMNS: [(&str, usize); 8] =
    [("calls", 9), ("bytes", 9), ("total", 9), ("mean", 8), ("p50", 8), ("p99", 8), ("max", 8), ("% run", 7)];

/// Which columns there is room for beside names of that length: the median and the longest go first.
fn routine_columns(longest: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..ROUTINE_COLUMNS.len()).collect();
    for title in ["p50", "max"] {
        let taken: usize = kept.iter().map(|&at| ROUTINE_COLUMNS[at].1).sum();
        if taken + longest > super::table::width() {
            kept.retain(|&at| ROUTINE_COLUMNS[at].0 != title);
        }
    }
    kept
}

fn routine_cells(r: &Routine, run_time: f64) -> [String; 8] {
    let dash = || "-".to_owned();
    let bytes = payload(r.all_bytes());
    let calls = units::count(r.all_calls());
    let share = merge::share(r, run_time).filter(|_| run_time > 0.0);
    let share = share.map_or_else(dash, |share| units::percent(share, 1.0));
    // With what has passed in calls that have not returned.
    let spent = units::time(r.spent_ns() as f64);
    if r.timed_calls == 0 {
        let total = if r.unfinished > 0 { spent } else { dash() };
        return [calls, bytes, total, dash(), dash(), dash(), dash(), share];
    }
    let kept = |ns: u64| if r.latency.counts().is_empty() { dash() } else { units::time(ns as f64) };
    let mark = if r.is_bounded() {
        "<"
    } else if r.estimated {
        "~"
    } else {
        ""
    };
    [
        calls,
        bytes,
        format!("{mark}{spent}"),
        units::time(r.mean_ns()),
        kept(r.quantile_ns(0.5)),
        kept(r.quantile_ns(0.99)),
        kept(r.max_ns),
        share,
    ]
}

fn payload(bytes: u64) -> String {
    if bytes == 0 { "-".to_owned() } else { units::bytes(bytes) }
}

/// Calls that failed, calls that did not return.
fn troubles(profile: &Merged) -> String {
    let mut text = String::new();
    for r in &profile.routines {
        let calls = units::count(r.all_calls());
        if r.errors > 0 {
            let _ = writeln!(text, "{}: {} of {calls} calls failed", r.name, units::count(r.errors));
        }
        if r.unfinished > 0 {
            let (unfinished, time) = (units::count(r.unfinished), units::time(r.unfinished_ns as f64));
            let _ = writeln!(
                text,
                "{}: {unfinished} of {calls} calls had not returned; they are in its total with {time}",
                r.name
            );
        }
    }
    super::table::filled(&text)
}

fn balance_table(pes: &[PeRow]) -> String {
    let columns = [("mean", 10), ("least", 10), ("PE", 7), ("most", 10), ("PE", 7), ("imbalance", 12)];
    let mut table = Table::new("balance between PEs", 24, &columns);
    for b in balance(pes) {
        table.row(
            b.what,
            &[
                units::time(b.mean_ns),
                units::time(b.min.1 as f64),
                b.min.0.to_string(),
                units::time(b.max.1 as f64),
                b.max.0.to_string(),
                format!("{:.1} %", b.imbalance_percent()),
            ],
        );
    }
    table.finish()
}

fn waiting(profile: &Merged) -> String {
    let pes = &profile.pes;
    if pes.iter().all(|pe| waiting_ns(pe) == 0) {
        return String::new();
    }
    let columns: Vec<(&str, usize)> =
        WAITING.iter().map(|&(title, _)| (title, 12)).chain([("together", 12), ("% run", 7)]).collect();
    let mut table = Table::new("PE waits in", 11, &columns);
    let shown = shown_pes(profile, PES_LISTED);
    let mut order: Vec<usize> = (0..pes.len()).collect();
    if shown.len() < pes.len() {
        order.sort_by_key(|&at| (std::cmp::Reverse(waiting_ns(&pes[at])), pes[at].pe));
    }
    // The one that waits least is last, and shown.
    let mut between = 0;
    for at in order {
        if shown.binary_search(&at).is_err() {
            between += 1;
            continue;
        }
        if between > 0 {
            table.line(&format!("... {between} PEs between these: --view pe lists them"));
            between = 0;
        }
        let pe = &pes[at];
        let mut cells: Vec<String> = WAITING.iter().map(|(_, pick)| units::time(pick(pe) as f64)).collect();
        cells.push(units::time(waiting_ns(pe) as f64));
        cells.push(units::percent(waiting_ns(pe) as f64, pe.main_ns() as f64));
        table.row(&format!("PE {}", pe.pe), &cells);
    }
    let least = waits_least(pes).filter(|least| is_blamed(profile, least.pe) && !profile.broke_off());
    if let Some(least) = least {
        table.line(&format!("PE {} waits least: it is the one that the others wait for.", least.pe));
    }
    table.finish()
}

/// The PE that the others wait for, where that is beyond doubt: it waits less than half as long as the others do in the
/// mean, which is 2 % of its run or more, and clearly less than the next one.
fn waits_least(pes: &[PeRow]) -> Option<&PeRow> {
    let total = waiting_ns;
    let least = pes.iter().min_by_key(|pe| (total(pe), pe.pe))?;
    let others = || pes.iter().filter(|pe| pe.pe != least.pe).map(total);
    let next = others().min()?;
    let mean = others().fold(0, u64::saturating_add) / (pes.len() as u64 - 1);
    let run = pes.iter().map(PeRow::main_ns).max()?;
    let differ = total(least) < mean / 2 && mean - total(least) > run / 50 && next - total(least) > mean / 50;
    differ.then_some(least)
}

/// Whether most was lost by this PE in barriers and collectives, or in waits for flags, as far as it is known whose
/// work ended them; or none is known to have lost anything: then nothing speaks against it.
pub(super) fn is_blamed(profile: &Merged, pe: u32) -> bool {
    let mut lost: BTreeMap<u32, u64> = BTreeMap::new();
    let mut add = |pe: u32, ns: u64| {
        let sum = lost.entry(pe).or_default();
        *sum = sum.saturating_add(ns);
    };
    profile.late.iter().flat_map(|late| &late.by_pe).for_each(|(pe, (_, ns))| add(*pe, *ns));
    let lines = WaitLines::of(profile.causes.rows.iter());
    let mut others = 0;
    for row in &profile.causes.rows {
        match lines.whose(row) {
            Whose::Line(pes) => pes.last().iter().for_each(|pe| add(**pe, row.ns)),
            Whose::InTurn(pes) if !pes.contains(&pe) => others += row.ns,
            Whose::InTurn(_) | Whose::NotKnown => {}
        }
    }
    let most = lost.values().copied().max().unwrap_or(0).max(others);
    most == 0 || lost.get(&pe) == Some(&most)
}

/// Cuts a text that is too long for its line.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if table::columns(text) <= width {
        return text.to_owned();
    }
    format!("{}...", table::begin_of(text, width.saturating_sub(3)))
}

/// Share of its run time that a PE spends in the library, as text.
pub(super) fn library_share(pe: &PeRow) -> String {
    units::percent(pe.library_ns() as f64, pe.main_ns() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Class;

    #[test]
    fn how_many_calls_were_timed_is_told_as_exactly_as_it_has_to_be() {
        let said = |calls, timed| {
            let mut r = Routine::new("shmem_long_p", Class::Put);
            (r.calls[0], r.timed_calls, r.total_ns, r.estimated) = (calls, timed, 100, true);
            sampling(&[r]).lines().next().unwrap_or_default().to_owned()
        };
        for (calls, timed, part) in [
            (2520, 2124, "most of them"),
            (2520, 1000, "one in 2.5"),
            (990, 100, "one in 9.9"),
            (16000, 563, "one in 28"),
        ] {
            let whole = format!("~ estimated: {timed} of {calls} short calls were timed, {part}. Counts are exact.");
            assert_eq!(said(calls, timed), whole);
        }
    }
}

//! By place in the program.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::row::{Bars, Cells, Chart, Tables, View};
use super::{place, place_cell, region_cell};
use crate::merge::{Merged, SiteRow, SiteSum};
use crate::op::{self, Class};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::{Symbols, script_line};
use crate::report::{Options, SortKey, units};
use crate::text::visible;

pub(crate) static VIEW: View = View {
    name: "callsites",
    title: "Call sites",
    help: "by place in the program, with source lines where it has debug information",
    hint: "The lines of the program that call the library, by routine and region: where to begin to change it.",
    chart: Chart::Bars(Bars { title: "time by call site", label: bar, value: "total_ns" }),
    tables: Tables::Made(|p, o, s| vec![grid(p, o, s)]),
    ..View::BASE
};

const COLUMNS: [Column; 15] = [
    column("site", "call site", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("region", "region", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("total_ns", "total", Kind::Time),
    column("share", "% run", Kind::Share),
    column("mean_ns", "mean", Kind::Time),
    column("max_ns", "max", Kind::Time),
    column("timed_calls", "", Kind::Count),
    column("unfinished_calls", "", Kind::Count),
    column("unfinished_ns", "", Kind::Time),
    column("file", "", Kind::Text),
    column("address", "", Kind::Text),
    column("callers", "", Kind::Text),
];

/// Calls of a routine from one line in one region: instructions of a loop that was unrolled, or inlined at several
/// places, are one row.
pub(in crate::report) struct SiteLine<'a> {
    pub(super) place: Cell,
    pub(in crate::report) first: &'a SiteRow,
    pub(in crate::report) sum: SiteSum,
    /// The ways to it, and how many calls came each.
    ways: Ways,
    /// From how many addresses.
    pub(super) addresses: usize,
}

fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let mut grid =
        Grid::new("callsites", "Call sites", &COLUMNS, "no call site was recorded").of_sums("Calls, bytes and totals");
    let mut lines = lines(profile, Regions::Apart, symbols, |_| true);
    let total = |sum: &SiteSum| sum.total_ns().unwrap_or(0);
    let key = |sum: &SiteSum| match options.sort {
        SortKey::Calls => sum.calls,
        SortKey::Bytes => sum.bytes,
        SortKey::Max => sum.longest_ns().unwrap_or(0),
        SortKey::Mean => sum.mean_ns().unwrap_or(0.0) as u64,
        _ => total(sum),
    };
    lines.sort_by_key(|line| std::cmp::Reverse((key(&line.sum), line.sum.calls)));
    let cut = lines.len().saturating_sub(options.top.unwrap_or(usize::MAX));
    lines.truncate(lines.len() - cut);
    let run = crate::advice::run_ns(profile);
    let (called, mut unfinished) = (called(&lines), Vec::new());
    for SiteLine { place, first, sum, addresses, ways } in lines {
        let known = first.place();
        let is_setup = is_setup(first);
        let mut row = vec![
            place,
            if first.routine.is_empty() { "(no room)".into() } else { (&*first.routine).into() },
            region_cell(&first.region),
        ];
        row.extend(numbers(&sum, run, is_setup));
        row.push(known.map(|(path, _)| path.to_owned()).into());
        row.push(known.filter(|_| addresses == 1).map(|(_, address)| format!("{address:#x}")).into());
        row.push(by(&ways).into());
        if sum.unfinished > 0 {
            unfinished.push(not_returned(&row[0], &sum));
        }
        grid.row(row);
    }
    if cut > 0 {
        grid.notes.push(format!("... and {cut} more"));
    }
    grid.notes.extend(grid.estimates());
    grid.notes.extend(unfinished);
    grid.notes.extend(called);
    if profile.other_sites.calls > 0 {
        let mut row: Vec<Cell> = vec!["(others)".into(), Cell::None, Cell::None];
        row.extend(numbers(&profile.other_sites, run, false));
        row.extend([Cell::None, Cell::None, Cell::None]);
        grid.row(row);
        grid.notes
            .push("Kept are the call sites where a PE spent most time; (others) is the sum of the rest.".to_owned());
    }
    grid.notes.extend(profile.replaced.iter().map(|path| {
        let name = visible(path.rsplit('/').next().unwrap_or(path));
        format!(
            "{name} was unloaded, and another library loaded at its addresses: calls from an address that both call \
             from may be counted for the wrong one for the first 10 ms."
        )
    }));
    if let Some(note) = without_lines(profile, symbols) {
        grid.notes.push(note);
    }
    grid
}

/// What a bar is of: the same line calls several routines, in several regions.
fn bar(of: &Cells<'_>) -> String {
    let (site, routine, region) = (of("site"), of("routine"), of("region"));
    let place = site.rsplit(" at ").next().unwrap_or(&site);
    let region = if region == "-" { String::new() } else { format!(" {region}") };
    format!("{place} {}{region}", routine.trim_start_matches("shmem_"))
}

/// Whether it begins or ends the program: that is called once, by whoever it is.
fn is_setup(row: &SiteRow) -> bool {
    op::class_of(&row.routine) == Some(Class::Setup)
}

/// Who calls each place, in words: in the order of the table, those that begin and end the program last. A place that
/// has several rows, of regions or routines, has one line.
fn called(lines: &[SiteLine]) -> Vec<String> {
    let mut places: Vec<(String, Ways)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let (setup, others): (Vec<&SiteLine>, Vec<&SiteLine>) = lines.iter().partition(|line| is_setup(line.first));
    for line in others.into_iter().chain(setup) {
        let place = line.place.shown(Kind::Text);
        let at = *known.entry(place.clone()).or_insert_with(|| {
            places.push((place, Ways::new()));
            places.len() - 1
        });
        line.ways.iter().for_each(|(way, times)| *places[at].1.entry(way.clone()).or_default() += times);
    }
    places.iter().filter_map(|(place, ways)| Some(format!("{place} is called by {}.", by(ways)?))).collect()
}

/// That some calls of a line had not returned, in words.
fn not_returned(place: &Cell, sum: &SiteSum) -> String {
    let (unfinished, calls) = (units::count(sum.unfinished), units::count(sum.calls));
    let time = units::time(sum.unfinished_ns as f64);
    let place = place.shown(Kind::Text);
    format!("{place}: {unfinished} of {calls} calls had not returned; they are in its total with {time}")
}

/// Calls, bytes, total, share of the run (none of routines that begin and end the program), mean, longest, timed calls,
/// those that had not returned, and their time.
fn numbers(sum: &SiteSum, run: f64, is_setup: bool) -> [Cell; 9] {
    let share = sum.total_ns().filter(|_| !is_setup).map(|ns| ns as f64 / run);
    let about = |cell: Cell| if sum.is_estimated() { cell.about() } else { cell };
    [
        sum.calls.into(),
        sum.bytes.into(),
        about(sum.total_ns().into()),
        share.into(),
        about(sum.mean_ns().into()),
        sum.longest_ns().into(),
        sum.timed_calls.into(),
        sum.unfinished.into(),
        sum.unfinished_ns.into(),
    ]
}

/// What a line is where it is called in several regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Regions {
    /// One of each region, as tables show it.
    Apart,
    /// One: what is lost there is lost, whatever else it is part of.
    Together,
}

impl Regions {
    /// The region that tells it from others of the same place.
    pub fn key(self, region: &str) -> &str {
        if self == Self::Apart { region } else { "" }
    }
}

/// Those of the call sites that `of` picks.
pub(in crate::report) fn lines<'a>(
    profile: &'a Merged,
    regions: Regions,
    symbols: &dyn Symbols,
    of: impl Fn(&SiteRow) -> bool,
) -> Vec<SiteLine<'a>> {
    let mut lines: Vec<SiteLine<'a>> = Vec::new();
    let mut known: HashMap<(String, &str, &str), usize> = HashMap::new();
    for row in profile.sites.iter().filter(|row| of(row)) {
        let place = site_cell(row, symbols);
        match known.entry((place.shown(Kind::Text), &*row.routine, regions.key(&row.region))) {
            Entry::Occupied(at) => {
                let line = &mut lines[*at.get()];
                let is_same = (line.sum.pes, row.sum.pes) == (1, 1) && line.sum.most.1 == row.sum.most.1;
                if is_same {
                    line.sum.add_same(&row.sum)
                } else {
                    line.sum.add(&row.sum)
                }
                add_ways(profile, row, symbols, &mut line.ways);
                line.addresses += 1;
            }
            Entry::Vacant(at) => {
                at.insert(lines.len());
                let mut ways = Ways::new();
                add_ways(profile, row, symbols, &mut ways);
                lines.push(SiteLine { place, first: row, sum: row.sum, ways, addresses: 1 });
            }
        }
    }
    lines
}

/// What stands for the place of a finalization that the program left to its exit: it has no call for it.
const AT_EXIT: &str = "(at exit)";

fn site_cell(row: &SiteRow, symbols: &dyn Symbols) -> Cell {
    match row.place() {
        None if op::has(&row.routine, op::FINALIZES) => AT_EXIT.into(),
        place => place_cell(place, symbols),
    }
}

/// Callers of one that are named.
const NAMED: usize = 3;

/// Who called the function that a call site is in, who called that one, and so on, up to `main`.
type Ways = BTreeMap<Vec<String>, u64>;

/// What the main program of Fortran is in the symbol table: of gfortran and ifx, flang, nvfortran. A `main` that the
/// compiler has made calls it.
const FORTRAN_MAIN: [&str; 3] = ["MAIN__", "_QQmain", "MAIN_"];

/// Whether an address that is returned to is in the function that a program begins with.
fn is_outermost(path: &str, address: u64, symbols: &dyn Symbols) -> bool {
    let address = address.saturating_sub(1);
    let frames = symbols.frames(path, address);
    let is_fortran = |file: &str| file.rsplit_once('.').is_some_and(|(_, end)| end.starts_with(['f', 'F']));
    let begins = |name: &str| name == "main" || FORTRAN_MAIN.contains(&name);
    // In debug information it has the name that the program gives it.
    let is_main_program = || symbols.object(path, address).is_some_and(|(name, _)| begins(&name));
    frames.iter().any(|frame| begins(&frame.function))
        || frames.last().is_none_or(|frame| is_fortran(&frame.file) && is_main_program())
}

/// Adds those to a call site. The outermost function has no caller that tells anything: what starts programs.
fn add_ways(profile: &Merged, row: &SiteRow, symbols: &dyn Symbols, ways: &mut Ways) {
    let Some((path, address)) = row.place() else { return };
    let is_last = is_outermost(path, address, symbols);
    for (way, times) in profile.callers.of(path, address, &row.routine, &row.region) {
        // Compiled modules of a script may have no names: the script's line tells whose calls they are all the same.
        let is_script = way.first().is_some_and(|(path, address)| script_line(path, *address).is_some());
        if times == 0 || is_last && !is_script {
            continue;
        }
        let mut names = Vec::new();
        for (path, address) in way.iter().take_while(|(path, _)| !path.is_empty()) {
            names.push(place(Some((path, *address)), symbols));
            if is_outermost(path, *address, symbols) {
                break;
            }
        }
        if !names.is_empty() {
            *ways.entry(names).or_default() += times;
        }
    }
}

/// `histo at histo.c:50 (60 % of the calls seen), main at histo.c:90 (40 %)`, those that called most first; one has no
/// share. Where all calls come from one place, those that called that function: `lookup at table.c:5 for solve at
/// main.c:30 (90 % of the calls seen)`.
fn by(ways: &Ways) -> Option<String> {
    let all: u64 = ways.values().sum();
    let at = |depth: usize| {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        ways.iter().filter_map(|(way, times)| Some((way.get(depth)?, times))).for_each(|(name, times)| {
            *sums.entry(name).or_default() += times;
        });
        let mut list: Vec<(&str, u64)> = sums.into_iter().collect();
        list.sort_by_key(|(name, times)| (std::cmp::Reverse(*times), *name));
        list
    };
    let depth = (0..).map(at).take_while(|list| !list.is_empty()).position(|list| list.len() > 1).unwrap_or(0);
    let list = at(depth);
    let before: String = (0..depth).flat_map(at).map(|(name, _)| format!("{name} for ")).collect();
    if let [(only, _)] = list.as_slice() {
        return Some((*only).to_owned());
    }
    let share = |times: u64| 100.0 * times as f64 / all as f64;
    // Not of the time: calls that move much may be few.
    let of_what = |at: usize| if at == 0 { " of the calls seen" } else { "" };
    let named = list.iter().take(NAMED).enumerate();
    let named = named.map(|(at, (name, times))| format!("{name} ({:.0} %{})", share(*times), of_what(at)));
    let mut text = before + &named.collect::<Vec<_>>().join(", ");
    if list.len() > NAMED {
        text.push_str(&format!(" and {} more", list.len() - NAMED));
    }
    (!list.is_empty()).then_some(text)
}

/// Why places are addresses, where they are.
fn without_lines(profile: &Merged, symbols: &dyn Symbols) -> Option<String> {
    // Whoever writes a script compiles nothing.
    let is_of_script = |row: &SiteRow| {
        let ways = profile.callers.of(&row.path, row.address, &row.routine, &row.region);
        ways.iter().filter_map(|(way, _)| way.first()).any(|(path, address)| script_line(path, *address).is_some())
    };
    let is_bare = |(path, address): &(&str, u64)| {
        !symbols.frames(path, address.saturating_sub(1)).iter().any(|frame| !frame.file.is_empty())
    };
    let places = profile.sites.iter().filter(|row| !is_of_script(row)).filter_map(SiteRow::place);
    // Of another file than the one that ran a note says so, and compiling it would not help.
    let (path, _) = places.into_iter().filter(|(path, _)| symbols.is_what_ran(path)).find(is_bare)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(format!("{} has no source lines: compile it with -g.", visible(name)))
}

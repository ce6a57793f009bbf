//! By place in the program.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{place_cell, region_cell};
use crate::merge::{Merged, SiteRow, SiteSum};
use crate::op::{self, Class};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, SortKey};
use crate::text::visible;

const COLUMNS: [Column; 12] = [
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
    column("file", "", Kind::Text),
    column("address", "", Kind::Text),
];

/// Calls of a routine from one line in one region: instructions of a loop that was unrolled, or inlined at several
/// places, are one row.
struct Line<'a> {
    place: Cell,
    first: &'a SiteRow,
    sum: SiteSum,
    /// From how many addresses.
    addresses: usize,
}

pub(super) fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let mut grid = Grid::new("callsites", "Call sites", &COLUMNS, "no call site was recorded");
    let mut lines = lines(profile, symbols);
    let total = |sum: &SiteSum| sum.total_ns().unwrap_or(0);
    let key = |sum: &SiteSum| match options.sort {
        SortKey::Calls => sum.calls,
        SortKey::Bytes => sum.bytes,
        SortKey::Max => sum.max_ns,
        SortKey::Mean => total(sum) / sum.calls.max(1),
        _ => total(sum),
    };
    lines.sort_by_key(|line| std::cmp::Reverse(key(&line.sum)));
    let cut = lines.len().saturating_sub(options.top.unwrap_or(usize::MAX));
    lines.truncate(lines.len() - cut);
    let run = crate::advice::run_ns(profile);
    for Line { place, first, sum, addresses } in lines {
        let known = first.place();
        let is_setup = op::lookup(&first.routine).and_then(op::get).is_some_and(|row| row.class == Class::Setup);
        let mut row = vec![
            place,
            if first.routine.is_empty() { "(no room)".into() } else { (&*first.routine).into() },
            region_cell(&first.region),
        ];
        row.extend(numbers(&sum, run, is_setup));
        row.push(known.map(|(path, _)| path.to_owned()).into());
        row.push(known.filter(|_| addresses == 1).map(|(_, address)| format!("{address:#x}")).into());
        grid.row(row);
    }
    if cut > 0 {
        grid.notes.push(format!("... and {cut} more"));
    }
    if profile.other_sites.calls > 0 {
        let mut row: Vec<Cell> = vec!["(others)".into(), Cell::None, Cell::None];
        row.extend(numbers(&profile.other_sites, run, false));
        row.extend([Cell::None, Cell::None]);
        grid.row(row);
        grid.notes
            .push("Kept are the call sites where a PE spent most time; (others) is the sum of the rest.".to_owned());
    }
    if let Some(note) = without_lines(profile, symbols) {
        grid.notes.push(note);
    }
    grid
}

/// Calls, bytes, total, share of the run (none of routines that begin and end the program), mean, longest, timed calls.
fn numbers(sum: &SiteSum, run: f64, is_setup: bool) -> [Cell; 7] {
    let mean = sum.total_ns().map(|ns| ns as f64 / sum.calls.max(1) as f64);
    let share = sum.total_ns().filter(|_| !is_setup).map(|ns| ns as f64 / run);
    [
        sum.calls.into(),
        sum.bytes.into(),
        sum.total_ns().into(),
        share.into(),
        mean.into(),
        sum.max_ns.into(),
        sum.timed_calls.into(),
    ]
}

fn lines<'a>(profile: &'a Merged, symbols: &dyn Symbols) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut known: HashMap<(String, &str, &str), usize> = HashMap::new();
    for row in &profile.sites {
        let place = place_cell(row.place(), symbols);
        match known.entry((place.shown(Kind::Text), &*row.routine, &*row.region)) {
            Entry::Occupied(at) => {
                let line = &mut lines[*at.get()];
                line.sum.add(&row.sum);
                line.addresses += 1;
            }
            Entry::Vacant(at) => {
                at.insert(lines.len());
                lines.push(Line { place, first: row, sum: row.sum, addresses: 1 });
            }
        }
    }
    lines
}

/// Why places are addresses, where they are.
fn without_lines(profile: &Merged, symbols: &dyn Symbols) -> Option<String> {
    let places = profile.sites.iter().filter_map(SiteRow::place);
    let is_bare = |(path, address): &(&str, u64)| {
        !symbols.frames(path, address.saturating_sub(1)).iter().any(|frame| !frame.file.is_empty())
    };
    let (path, _) = places.into_iter().find(is_bare)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(format!("{} has no source lines: compile it with -g.", visible(name)))
}

//! Who came late to which barrier, collective or wait, and what the others lost by it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::row::{Chart, Tables, View};
use super::{Regions, SiteLine, lines, place as shown_place, place_cell, region_cell};
use crate::merge::{Late, Merged, SiteRow};
use crate::op::{self, Class};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, merge, units};

pub(super) static VIEW: View = View {
    name: "imbalance",
    title: "Imbalance: who came late, and what it cost",
    help: "who came late to which barrier, collective or wait, and what that cost",
    hint: "For each barrier and collective: how long the others waited for the one that came last. A PE that is last \
           each time has more work; one that changes is noise or a pattern.",
    chart: Chart::LatePes,
    tables: Tables::Made(grids),
    ..View::BASE
};

pub(super) static WAITS_VIEW: View = View {
    name: "waits",
    help: "the table of waits and locks of imbalance, alone",
    tables: Tables::OneOf(&VIEW, "waits"),
    ..View::BASE
};

const COLUMNS: [Column; 11] = [
    column("site", "where", Kind::Text),
    column("caller", "called from", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("region", "region", Kind::Text),
    column("calls", "meetings", Kind::Count),
    column("lost_ns", "lost", Kind::Time),
    column("mean_lost_ns", "", Kind::Time),
    column("max_skew_ns", "longest", Kind::Time),
    column("late_pe", "late PE", Kind::Text),
    column("late_calls", "last", Kind::Count),
    column("late_share", "its part", Kind::Share),
];

const WAITS: [Column; 8] = [
    column("site", "where", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("region", "region", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("lost_ns", "waited", Kind::Time),
    column("pes", "PEs", Kind::Count),
    column("most_pe", "most: PE", Kind::Text),
    column("most_ns", "its time", Kind::Time),
];

fn grids(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Vec<Grid> {
    let none = if profile.unpaired > 0 {
        "no meeting was recorded of which it is known that all PEs recorded it (see the note)"
    } else {
        "no meeting of several PEs was recorded"
    };
    let mut grid = Grid::new("imbalance", "Barriers and collectives", &COLUMNS, none);
    let every = profile.every;
    for (place, caller, late) in late_by_caller(profile, symbols) {
        let (_, times, lost) = late.worst().unwrap_or_default();
        grid.row([
            place,
            region_cell(&caller.unwrap_or_default()),
            late.routine.as_str().into(),
            region_cell(&late.region),
            late.meetings.into(),
            late.lost_ns.into(),
            (late.lost_ns as f64 / late.meetings.max(1) as f64).into(),
            late.max_skew_ns.into(),
            late.worst().map(|(pe, ..)| Cell::Pe(pe)).into(),
            times.into(),
            Cell::Real(if late.lost_ns > 0 { lost as f64 / late.lost_ns as f64 } else { 0.0 }),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "lost: time from arriving to the arrival of the last PE, summed over those that came before it.".to_owned(),
        );
    }
    let open = profile.late.iter().map(|late| late.open).fold(0, u64::saturating_add);
    if open > 0 {
        let open = units::count(open);
        grid.notes.push(format!(
            "Meetings to which not all PEs had come when the job ended: {open}. There the others lost the time until \
             their end; the late PE is named where it is the only one that had not come."
        ));
    }
    if every > 1 {
        grid.notes.push(format!(
            "One in {every} meetings was kept, which stands for as many, and the longest of the others."
        ));
    }
    if profile.meetings_differ() {
        let (kept, all) = profile.meeting_times.kept_and_all();
        grid.notes.push(format!(
            "A few meetings took much longer than most: those that were kept, times {every}, come to {}, all to {}. \
             What was lost, and who came last, is not known.",
            units::time(kept as f64),
            units::time(all as f64)
        ));
    }
    if merge::hosts(profile).len() > 1 {
        grid.notes.push(
            "Arrivals are compared across hosts: their clocks may differ by what it takes to align them.".to_owned(),
        );
    }
    vec![grid, waits(profile, options, symbols)]
}

/// Meetings at one line: where the compiler made several places of it, all of them. Those that cost most first.
#[derive(Clone)]
pub(crate) struct LateLine {
    /// The line, for people.
    place: Cell,
    /// All of them.
    pub late: Late,
    /// Those that one function called for, by the place of its call, where there are several: the line is of a layer
    /// of the program. Without a place: those of which nobody knows who called.
    pub callers: Vec<(Option<String>, Late)>,
}

/// See [`LateLine`].
pub(crate) fn late_by_line(profile: &Merged, regions: Regions, symbols: &dyn Symbols) -> Vec<LateLine> {
    let mut lines: Vec<LateLine> = Vec::new();
    let mut known: HashMap<(String, &str, &str), usize> = HashMap::new();
    for late in &profile.late {
        let place = place_cell(late.place(), symbols);
        let caller = late.caller().map(|caller| shown_place(Some(caller), symbols));
        let line = match known.entry((place.shown(Kind::Text), &*late.routine, regions.key(&late.region))) {
            Entry::Occupied(at) => {
                let line = &mut lines[*at.get()];
                line.late.add(late);
                line
            }
            Entry::Vacant(at) => {
                at.insert(lines.len());
                lines.push(LateLine { place, late: late.clone(), callers: Vec::new() });
                lines.last_mut().expect("one was added")
            }
        };
        match line.callers.iter_mut().find(|(known, _)| *known == caller) {
            Some((_, known)) => known.add(late),
            None => line.callers.push((caller, late.clone())),
        }
    }
    for line in &mut lines {
        if line.callers.iter().filter(|(caller, _)| caller.is_some()).count() < 2 {
            line.callers.clear();
        }
        line.callers.sort_by_key(|(_, late)| std::cmp::Reverse(late.lost_ns));
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.late.lost_ns));
    lines
}

/// Lines, and where they are of a layer of the program, who called there.
fn late_by_caller(profile: &Merged, symbols: &dyn Symbols) -> Vec<(Cell, Option<String>, Late)> {
    let mut rows = Vec::new();
    for LateLine { place, late, callers } in late_by_line(profile, Regions::Apart, symbols) {
        if callers.is_empty() {
            rows.push((place, None, late));
        } else {
            rows.extend(callers.into_iter().map(|(caller, late)| (place.clone(), caller, late)));
        }
    }
    rows.sort_by_key(|(.., late)| std::cmp::Reverse(late.lost_ns));
    rows
}

/// Waits and locks: how long, and where. Who ended them is the view `causes`.
fn waits(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let is_wait = |row: &SiteRow| op::class_of(&row.routine).is_some_and(Class::is_for_others);
    let mut rows = lines(profile, Regions::Apart, symbols, is_wait);
    let name = |row: &SiteRow| (row.routine.clone(), row.place().map(|(p, a)| (p.to_owned(), a)), row.region.clone());
    rows.sort_by_cached_key(|row| (std::cmp::Reverse(row.sum.known_ns), name(row.first)));
    let mut grid = Grid::new("waits", "Waits and locks", &WAITS, "no wait and no lock was recorded")
        .of_sums("Calls and waited times");
    for SiteLine { place, first, sum, addresses, .. } in rows {
        // Places of one line may have PEs in common, and are known to where it is one PE.
        let of_pes = addresses == 1 || sum.pes == 1;
        grid.row([
            place,
            (&*first.routine).into(),
            region_cell(&first.region),
            sum.calls.into(),
            sum.known_ns.into(),
            of_pes.then_some(sum.pes).into(),
            (of_pes && sum.most.0 > 0).then_some(Cell::Pe(sum.most.1)).into(),
            of_pes.then_some(sum.most.0).into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push("Who ended them, and what that PE did before: --view causes.".to_owned());
    }
    grid
}

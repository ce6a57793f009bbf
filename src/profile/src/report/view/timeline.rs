//! What each PE did over time.

use super::row::{Chart, Tables, View};
use crate::merge::{Merged, STRIP_COLUMNS, STRIP_KINDS};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::{WHICH, shown_pes, table, units};
use crate::timeline::{DATA, MEETINGS, SETUP, WAITS};

pub(super) static VIEW: View = View {
    name: "timeline",
    title: "Timeline: what each PE did",
    help: "what each PE did over time",
    hint: "What each PE did from its begin to its end, in 64 columns: phases of the program, and who waits while \
           others work.",
    chart: Chart::Strips,
    tables: Tables::Made(|p, _, _| vec![grid(p)]),
    text: Some(|p, _| vec![text(p)]),
    ..View::BASE
};

const COLUMNS: [Column; 8] = [
    column("pe", "PE", Kind::Text),
    column("begin_ns", "from", Kind::Time),
    column("end_ns", "to", Kind::Time),
    column("outside", "outside", Kind::Share),
    column("data", "put, get, else", Kind::Share),
    column("waits", "waits, locks", Kind::Share),
    column("meetings", "barriers, coll.", Kind::Share),
    column("setup", "init, finalize", Kind::Share),
];

/// PEs that have a line each; with more, see [`shown_pes`].
const LINES: usize = 32;
const EMPTY: &str = "no PE has recorded what it did over time";

fn grid(profile: &Merged) -> Grid {
    let mut grid = Grid::new("timeline", "Over time", &COLUMNS, EMPTY);
    for (pe, strip) in profile.pes.iter().filter_map(|pe| Some((pe.pe, pe.strip.as_ref()?))) {
        for at in 0..STRIP_COLUMNS {
            let ((begin, end), shares) = (strip.range_ns(at), strip.shares(at));
            let outside = (1.0 - shares.iter().sum::<f64>()).max(0.0);
            let mut cells: Vec<Cell> = vec![Cell::Pe(pe), begin.into(), end.into(), outside.into()];
            cells.extend([DATA, WAITS, MEETINGS, SETUP].map(|kind| Cell::Real(shares[kind])));
            grid.row(cells);
        }
    }
    grid
}

/// A line a PE, a letter a 64th of its run.
fn text(profile: &Merged) -> String {
    let shown = shown_pes(profile, LINES);
    let with_strip = |at: &usize| profile.pes.get(*at).and_then(|pe| Some((pe.pe, pe.strip.as_ref()?)));
    let all: Vec<_> = shown.iter().filter_map(with_strip).collect();
    let (Some((_, first)), false) = (all.first(), all.is_empty()) else { return format!("{EMPTY}\n") };
    let begin = all.iter().map(|(_, strip)| strip.begin_ns).min().unwrap_or(first.begin_ns);
    let end = all.iter().map(|(_, strip)| strip.end_ns).max().unwrap_or(first.end_ns);
    let times = [begin, end].map(|ns| units::time(ns as f64));
    let mut out = format!("{:<8}{:<32}{:>32}\n", "PE", times[0], times[1]);
    for (pe, strip) in &all {
        let letters: String = (0..STRIP_COLUMNS)
            .map(|at| {
                let moment =
                    begin + ((end - begin) as u128 * (2 * at as u128 + 1) / (2 * STRIP_COLUMNS as u128)) as u64;
                strip.column_at(moment).map_or(' ', |column| letter(strip.shares(column)))
            })
            .collect();
        out.push_str(format!("{pe:<8}{letters}").trim_end());
        out.push('\n');
    }
    if shown.len() < profile.pes.len() {
        out.push_str(&table::filled(&format!("{} of {} PEs: {WHICH}", shown.len(), profile.pes.len())));
    }
    out.push_str(". outside of the library  d puts, gets and all else  w waits, locks\n");
    out.push_str("B barriers, collectives  i initialization, finalization\n");
    out.push_str("A letter is what took most of a column.\n");
    out
}

/// What took most of a column.
fn letter(shares: [f64; STRIP_KINDS]) -> char {
    let outside = 1.0 - shares.iter().sum::<f64>();
    let kinds = [('d', DATA), ('w', WAITS), ('B', MEETINGS), ('i', SETUP)];
    let of = [('.', outside)].into_iter().chain(kinds.map(|(letter, kind)| (letter, shares[kind])));
    // The first of equal ones.
    of.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or('.', |(letter, _)| letter)
}

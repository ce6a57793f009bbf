//! What each PE did over time.

use super::row::{Chart, Tables, View};
use crate::merge::{Merged, STRIP_COLUMNS, STRIP_KINDS};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::{WHICH, shown_pes, table, units};
use crate::timeline::{DATA, MEETINGS, SETUP, UNRECORDED, WAITS};

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

const COLUMNS: [Column; 9] = [
    column("pe", "PE", Kind::Text),
    column("begin_ns", "from", Kind::Time),
    column("end_ns", "to", Kind::Time),
    column("outside", "outside", Kind::Share),
    column("data", "put, get, else", Kind::Share),
    column("waits", "waits, locks", Kind::Share),
    column("meetings", "barriers, coll.", Kind::Share),
    column("setup", "init, finalize", Kind::Share),
    column("unrecorded", "not recorded", Kind::Share),
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
            cells.extend([DATA, WAITS, MEETINGS, SETUP, UNRECORDED].map(|kind| Cell::Real(shares[kind])));
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
    if all.iter().any(|(_, strip)| strip.has(UNRECORDED)) {
        out.push_str("? not recorded: the level of the profile was 0\n");
    }
    out.push_str("A letter is what took most of a column.\n");
    out
}

/// What took most of a column.
fn letter(shares: [f64; STRIP_KINDS]) -> char {
    let outside = 1.0 - shares.iter().sum::<f64>();
    let kinds = [('d', DATA), ('w', WAITS), ('B', MEETINGS), ('i', SETUP), ('?', UNRECORDED)];
    let of = [('.', outside)].into_iter().chain(kinds.map(|(letter, kind)| (letter, shares[kind])));
    // The first of equal ones.
    of.rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or('.', |(letter, _)| letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pe, Profile, Progress};
    use crate::tables::Timeline;

    /// Nobody knows that it was outside of the library.
    #[test]
    fn what_was_not_recorded_is_not_outside() {
        let shown = |gap_ns: u64| {
            let slices = vec![[0; 4], [0, 0, 0, gap_ns]];
            let mut pe = Pe { end_ns: 2000, progress: Progress::Finalized, ..Pe::default() };
            pe.tables.timeline = Timeline { begin_ns: 0, width_ns: 1000, slices };
            let merged = Merged::from(&Profile { pes: vec![pe], ..Profile::default() });
            let last = grid(&merged).rows.pop().unwrap_or_default();
            (text(&merged), last[3].number(), last[8].number())
        };
        let (said, outside, unrecorded) = shown(1000);
        assert!(said.contains(&[".".repeat(32), "?".repeat(32)].concat()), "{said}");
        assert!(said.contains("\n? not recorded: the level of the profile was 0\n"), "{said}");
        assert_eq!((outside, unrecorded), (0.0, 1.0));
        assert!(!shown(0).0.contains('?'));
    }
}

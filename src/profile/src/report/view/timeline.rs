//! What each PE did over time.

use crate::merge::{Merged, STRIP_COLUMNS};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::units;
use crate::timeline::{DATA, MEETINGS, WAITS};

const COLUMNS: [Column; 7] = [
    column("pe", "PE", Kind::Text),
    column("begin_ns", "from", Kind::Time),
    column("end_ns", "to", Kind::Time),
    column("outside", "outside", Kind::Share),
    column("data", "put, get", Kind::Share),
    column("waits", "waits, locks", Kind::Share),
    column("meetings", "barriers, coll.", Kind::Share),
];

/// PEs that have a line each; with more, some at equal distances.
const LINES: usize = 32;
const EMPTY: &str = "no PE has recorded what it did over time";

pub(super) fn grid(profile: &Merged) -> Grid {
    let mut grid = Grid::new("timeline", "Over time", &COLUMNS, EMPTY);
    for (pe, strip) in profile.pes.iter().filter_map(|pe| Some((pe.pe, pe.strip.as_ref()?))) {
        for at in 0..STRIP_COLUMNS {
            let ((begin, end), shares) = (strip.range_ns(at), strip.shares(at));
            let outside = (1.0 - shares.iter().sum::<f64>()).max(0.0);
            let mut cells: Vec<Cell> = vec![Cell::Text(pe.to_string()), begin.into(), end.into(), outside.into()];
            cells.extend([DATA, WAITS, MEETINGS].map(|kind| Cell::Real(shares[kind])));
            grid.row(cells);
        }
    }
    grid
}

/// A line a PE, a letter a 64th of its run.
pub(crate) fn text(profile: &Merged) -> String {
    let all: Vec<_> = profile.pes.iter().filter_map(|pe| Some((pe.pe, pe.strip.as_ref()?))).collect();
    let (Some((_, first)), false) = (all.first(), all.is_empty()) else { return format!("{EMPTY}\n") };
    let begin = all.iter().map(|(_, strip)| strip.begin_ns).min().unwrap_or(first.begin_ns);
    let end = all.iter().map(|(_, strip)| strip.end_ns).max().unwrap_or(first.end_ns);
    let times = [begin, end].map(|ns| units::time(ns as f64));
    let mut out = format!("{:<8}{:<32}{:>32}\n", "PE", times[0], times[1]);
    let shown = all.len().min(LINES);
    for line in 0..shown {
        let (pe, strip) = &all[if shown > 1 { line * (all.len() - 1) / (shown - 1) } else { 0 }];
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
    if shown < all.len() {
        out.push_str(&format!("{shown} of {} PEs\n", all.len()));
    }
    out.push_str(". outside of the library  d puts, gets and all else  w waits, locks\n");
    out.push_str("B barriers, collectives: what took most of a column\n");
    out
}

/// What took most of a column.
fn letter(shares: [f64; crate::timeline::KINDS]) -> char {
    let outside = 1.0 - shares.iter().sum::<f64>();
    let of = [('.', outside), ('d', shares[DATA]), ('w', shares[WAITS]), ('B', shares[MEETINGS])];
    // The first of equal ones.
    of.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).map_or('.', |(letter, _)| letter)
}

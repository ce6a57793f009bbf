//! What happens between two barriers, syncs or collectives.

use super::line_cell;
use crate::merge::{Merged, Place};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;

const COLUMNS: [Column; 13] = [
    column("from", "from", Kind::Text),
    column("to", "to", Kind::Text),
    column("times", "times", Kind::Count),
    column("work_mean_ns", "work: mean", Kind::Time),
    column("work_max_ns", "most", Kind::Time),
    column("max_pe", "PE", Kind::Text),
    column("balance", "balance", Kind::Share),
    column("library_mean_ns", "", Kind::Time),
    column("lost_ns", "lost", Kind::Time),
    column("pes", "", Kind::Count),
    column("share", "", Kind::Share),
    column("from_routine", "", Kind::Text),
    column("to_routine", "", Kind::Text),
];

pub(super) fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let empty = "nothing is known of what PEs did between barriers and collectives";
    let mut grid = Grid::new("phases", "Between barriers and collectives", &COLUMNS, empty);
    let run = crate::report::merge::run_time_ns(&profile.pes);
    let cell = |place: Option<&Place>, otherwise: &str| -> Cell {
        place.map_or_else(|| otherwise.into(), |place| line_cell(place.file(), symbols))
    };
    for ((from, to), sum) in &profile.phases {
        let pes = sum.pes.max(1);
        let mean = sum.work_ns as f64 / pes as f64;
        grid.row([
            cell(from.as_ref(), "(start)"),
            cell(to.as_ref(), "(end)"),
            sum.times.div_ceil(pes).into(),
            mean.into(),
            sum.most.0.into(),
            Cell::Text(sum.most.1.to_string()),
            Cell::Real(if sum.most.0 > 0 { mean / sum.most.0 as f64 } else { 1.0 }),
            (sum.library_ns as f64 / pes as f64).into(),
            sum.lost_ns.into(),
            sum.pes.into(),
            Cell::Real(if run > 0.0 { sum.spent_ns() as f64 / run } else { 0.0 }),
            from.as_ref().map(|place| place.routine).into(),
            to.as_ref().map(|place| place.routine).into(),
        ]);
    }
    grid.cut(options.top);
    if !grid.rows.is_empty() {
        grid.notes.push(
            "work: time of a PE outside of the library, from leaving one place to arriving at the next, over all \
             times. lost: waiting there for the last PE, summed over the PEs."
                .to_owned(),
        );
    }
    if profile.every > 1 {
        grid.notes.push(format!("One in {} was kept and stands for the others.", profile.every));
    }
    grid
}

//! By PE.

use crate::merge::Merged;
use crate::report::balance::WAITING;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

const COLUMNS: [Column; 15] = [
    column("pe", "PE", Kind::Text),
    column("host", "host", Kind::Text),
    column("wall_ns", "", Kind::Time),
    column("main_ns", "run time", Kind::Time),
    column("run_ns", "", Kind::Time),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("library_ns", "library", Kind::Time),
    column("barriers_ns", "barriers", Kind::Time),
    column("waits_ns", "waits", Kind::Time),
    column("collectives_ns", "collectives", Kind::Time),
    column("locks_ns", "locks", Kind::Time),
    column("overhead_ns", "profiling", Kind::Time),
    column("on_core_ns", "", Kind::Time),
    column("queued_ns", "", Kind::Time),
];

pub(super) fn grid(profile: &Merged) -> Grid {
    let mut grid = Grid::new("pes", "PEs", &COLUMNS, "no PE recorded anything");
    for pe in &profile.pes {
        let waiting = WAITING.iter().map(|(_, pick)| Cell::Whole(pick(pe)));
        let mut row: Vec<Cell> = vec![
            Cell::Pe(pe.pe),
            (&*pe.host).into(),
            pe.wall_ns().into(),
            pe.main_ns().into(),
            pe.threads_ns().into(),
            pe.all_calls().into(),
            pe.bytes.into(),
            pe.library_ns().into(),
        ];
        row.extend(waiting);
        row.push(Cell::Whole(pe.overhead_ns));
        row.push(Some(pe.on_core_ns()).filter(|ns| *ns > 0).into());
        row.push(pe.queued_ns().into());
        grid.row(row);
    }
    grid
}

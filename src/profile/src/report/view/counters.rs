//! Hardware and software counters.

use crate::model::Profile;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

const COLUMNS: [Column; 6] = [
    column("counter", "counter", Kind::Text),
    column("around", "around", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("value", "value", Kind::Count),
    column("per_call", "a call", Kind::Number),
    column("available_on", "PEs", Kind::Text),
];

pub(super) fn grid(profile: &Profile) -> Grid {
    let _ = profile;
    let mut grid = Grid::new("counters", "Counters", &COLUMNS, "no counter was recorded");
    let _: Option<Cell> = None;
    grid.notes.clear();
    grid
}

//! By routine.

use crate::merge::Merged;
use crate::model::Routine;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::{Options, merge, sort};

const COLUMNS: [Column; 15] = [
    column("routine", "routine", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("errors", "errors", Kind::Count),
    column("timed_calls", "timed", Kind::Count),
    column("total_ns", "total", Kind::Time),
    column("total_stderr_ns", "+-", Kind::Time),
    column("mean_ns", "mean", Kind::Time),
    column("p50_ns", "p50", Kind::Time),
    column("p99_ns", "p99", Kind::Time),
    column("max_ns", "max", Kind::Time),
    column("estimated", "est.", Kind::Text),
    column("share", "% run", Kind::Share),
    column("max_pe", "most: PE", Kind::Text),
    column("max_pe_ns", "its time", Kind::Time),
];

pub(super) fn grid(profile: &Merged, options: &Options) -> Grid {
    let mut grid = Grid::new("routines", "Routines", &COLUMNS, "no call was recorded");
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, None);
    let run = merge::run_time_ns(&profile.pes);
    routines.iter().for_each(|r| grid.row(row(r, run, profile.most_of(&r.name))));
    grid.cut(options.top);
    grid
}

fn row(r: &Routine, run: f64, most: Option<(u64, u32)>) -> Vec<Cell> {
    let timed = |value: Cell| if r.timed_calls == 0 { Cell::None } else { value };
    vec![
        r.name.as_str().into(),
        r.all_calls().into(),
        r.all_bytes().into(),
        r.errors.into(),
        r.timed_calls.into(),
        timed(r.total_ns.into()),
        timed(r.total_stderr_ns().into()),
        timed(r.mean_ns().into()),
        timed(r.quantile_ns(0.5).into()),
        timed(r.quantile_ns(0.99).into()),
        timed(r.max_ns.into()),
        if r.is_bounded() {
            "bound"
        } else if r.estimated {
            "yes"
        } else {
            "no"
        }
        .into(),
        merge::share(r, run).into(),
        Cell::from(most.map(|(_, pe)| Cell::Pe(pe))),
        Cell::from(most.map(|(ns, _)| ns)),
    ]
}

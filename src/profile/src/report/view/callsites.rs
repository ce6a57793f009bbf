//! By place in the program.

use super::{place, region_cell};
use crate::merge::{Merged, SiteRow};
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::symbols::Symbols;
use crate::report::{Options, SortKey};

const COLUMNS: [Column; 11] = [
    column("site", "call site", Kind::Text),
    column("routine", "routine", Kind::Text),
    column("region", "region", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("total_ns", "total", Kind::Time),
    column("mean_ns", "mean", Kind::Time),
    column("max_ns", "max", Kind::Time),
    column("timed_calls", "", Kind::Count),
    column("file", "", Kind::Text),
    column("address", "", Kind::Text),
];

pub(super) fn grid(profile: &Merged, options: &Options, symbols: &dyn Symbols) -> Grid {
    let mut grid = Grid::new("callsites", "Call sites", &COLUMNS, "no call site was recorded");
    let total = |row: &SiteRow| row.sum.total_ns().unwrap_or(0);
    let key = |row: &SiteRow| match options.sort {
        SortKey::Calls => row.sum.calls,
        SortKey::Bytes => row.sum.bytes,
        SortKey::Max => row.sum.max_ns,
        SortKey::Mean => total(row) / row.sum.calls.max(1),
        _ => total(row),
    };
    let mut rows: Vec<&SiteRow> = profile.sites.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(key(row)));
    let cut = rows.len().saturating_sub(options.top.unwrap_or(usize::MAX));
    rows.truncate(rows.len() - cut);
    for row in &rows {
        let (site, known) = (&row.sum, row.place());
        grid.row([
            place(known, symbols).into(),
            if row.routine.is_empty() { "(no room)".into() } else { (&*row.routine).into() },
            region_cell(&row.region),
            site.calls.into(),
            site.bytes.into(),
            site.total_ns().into(),
            site.total_ns().map(|ns| ns as f64 / site.calls.max(1) as f64).into(),
            site.max_ns.into(),
            site.timed_calls.into(),
            Cell::from(known.map(|(path, _)| path.to_owned())),
            Cell::from(known.map(|(_, address)| format!("{address:#x}"))),
        ]);
    }
    if cut > 0 {
        grid.notes.push(format!("... and {cut} more"));
    }
    let others = &profile.other_sites;
    if others.calls > 0 {
        let mean = others.total_ns().map(|ns| ns as f64 / others.calls as f64);
        let numbers = [others.calls.into(), others.bytes.into(), others.total_ns().into(), mean.into()];
        let mut row: Vec<Cell> = vec!["(others)".into(), Cell::None, Cell::None];
        row.extend(numbers);
        row.extend([others.max_ns.into(), others.timed_calls.into(), Cell::None, Cell::None]);
        grid.row(row);
        grid.notes
            .push("Kept are the call sites where a PE spent most time; (others) is the sum of the rest.".to_owned());
    }
    grid
}

//! By region of the program, and its markers.

use crate::merge::{Merged, RegionSum};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

const COLUMNS: [Column; 12] = [
    column("region", "region", Kind::Text),
    column("entries", "entries", Kind::Count),
    column("total_ns", "total", Kind::Time),
    column("own_ns", "own", Kind::Time),
    column("max_ns", "", Kind::Time),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
    column("library_ns", "library", Kind::Time),
    column("waiting_ns", "waiting", Kind::Time),
    column("max_pe", "most: PE", Kind::Text),
    column("max_pe_ns", "", Kind::Time),
    column("open", "", Kind::Count),
];

const MARKERS: [Column; 7] = [
    column("marker", "marker", Kind::Text),
    column("pe", "PE", Kind::Text),
    column("count", "count", Kind::Count),
    column("mean", "mean", Kind::Number),
    column("min", "min", Kind::Number),
    column("max", "max", Kind::Number),
    column("last", "last", Kind::Number),
];

pub(super) fn grids(profile: &Merged, options: &Options) -> Vec<Grid> {
    let mut rows: Vec<&(String, RegionSum)> = profile.regions.iter().collect();
    rows.sort_by_key(|(name, sum)| (std::cmp::Reverse(sum.own_ns), name.as_str()));
    let mut grid = Grid::new("regions", "Regions", &COLUMNS, "no region was recorded");
    for (name, sum) in rows {
        let named = |value: u64| if name.is_empty() { Cell::None } else { value.into() };
        grid.row([
            if name.is_empty() { "(outside)".into() } else { name.as_str().into() },
            named(sum.entries),
            named(sum.total_ns),
            sum.own_ns.into(),
            named(sum.max_ns),
            sum.calls.into(),
            sum.bytes.into(),
            sum.library_ns.into(),
            sum.waiting_ns.into(),
            Cell::Text(sum.most.1.to_string()),
            sum.most.0.into(),
            named(sum.open),
        ]);
    }
    grid.cut(options.top);
    grid.notes.push(
        "total: begin to end; own: without inner regions. Calls and times in the library are those of own.".to_owned(),
    );
    let mut markers = Grid::new("markers", "Markers", &MARKERS, "");
    for row in &profile.markers {
        let m = &row.marker;
        let own = |value: f64| row.pe.map(|_| value);
        markers.row([
            m.name.as_str().into(),
            Cell::Text(row.pe.map_or("(others)".to_owned(), |pe| pe.to_string())),
            m.count.into(),
            own(m.sum / m.count.max(1) as f64).into(),
            m.min.into(),
            m.max.into(),
            own(m.last).into(),
        ]);
    }
    vec![grid, markers]
}

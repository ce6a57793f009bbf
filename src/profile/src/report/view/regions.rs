//! By region of the program, and its markers.

use crate::merge::{Merged, RegionSum};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

const COLUMNS: [Column; 14] = [
    column("region", "region", Kind::Text),
    column("entries", "entries", Kind::Count),
    column("total_ns", "", Kind::Time),
    column("own_ns", "", Kind::Time),
    column("max_ns", "", Kind::Time),
    column("calls", "", Kind::Count),
    column("bytes", "", Kind::Bytes),
    column("library_ns", "library", Kind::Time),
    column("waiting_ns", "waiting", Kind::Time),
    column("mean_pe_ns", "mean", Kind::Time),
    column("max_pe_ns", "most", Kind::Time),
    column("max_pe", "PE", Kind::Text),
    column("imbalance", "above", Kind::Share),
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
    let pes = profile.pes.len().max(1) as f64;
    for (name, sum) in rows {
        let all = if name.is_empty() { sum.own_ns } else { sum.total_ns };
        let mean = all as f64 / pes;
        let imbalance = if mean > 0.0 { (sum.most.0 as f64 / mean - 1.0).max(0.0) } else { 0.0 };
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
            mean.into(),
            sum.most.0.into(),
            Cell::Text(sum.most.1.to_string()),
            Cell::Real(imbalance),
            named(sum.open),
        ]);
    }
    grid.cut(options.top);
    grid.notes.push(
        "mean, most: of a PE from begin to end, whose most that is, and by how much it is above the mean. library, \
         waiting: without inner regions, summed over the PEs."
            .to_owned(),
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

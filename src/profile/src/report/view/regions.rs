//! By region of the program, and its markers.

use std::collections::BTreeMap;

use super::row::{Bars, Chart, Tables, View};
use crate::merge::{MarkerRow, Merged, RegionSum};
use crate::report::Options;
use crate::report::grid::{Cell, Column, Grid, Kind, column};

pub(super) static VIEW: View = View {
    name: "regions",
    title: "Regions",
    help: "by region (shmem_pcontrol), and the program's markers over all PEs",
    hint: "Parts of the program that it named (shmem_pcontrol). Waiting is the part of library time that other PEs \
           cause.",
    chart: Chart::Bars(Bars { title: "own time by region", label: |of| of("region"), value: "own_ns" }),
    tables: Tables::Made(|p, o, _| grids(p, o)),
    ..View::BASE
};

pub(super) static MARKERS_VIEW: View = View {
    name: "markers",
    help: "the program's markers by PE",
    tables: Tables::OneOf(&VIEW, "markers"),
    ..View::BASE
};

pub(super) static MARKER_SUMS_VIEW: View = View {
    name: "marker-sums",
    help: "the program's markers over all PEs, alone",
    tables: Tables::OneOf(&VIEW, "marker_sums"),
    ..View::BASE
};

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

const MARKER_SUMS: [Column; 7] = [
    column("marker", "marker", Kind::Text),
    column("count", "count", Kind::Count),
    column("mean", "mean", Kind::Number),
    column("min", "min", Kind::Number),
    column("min_pe", "on PE", Kind::Text),
    column("max", "max", Kind::Number),
    column("max_pe", "on PE", Kind::Text),
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

fn grids(profile: &Merged, options: &Options) -> Vec<Grid> {
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
            Cell::Pe(sum.most.1),
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
    vec![grid, marker_sums(profile), markers(profile)]
}

/// Markers over all PEs: a row a name.
fn marker_sums(profile: &Merged) -> Grid {
    let mut grid = Grid::new("marker_sums", "Markers, over all PEs", &MARKER_SUMS, "");
    let mut sums: BTreeMap<&str, MarkerSum> = BTreeMap::new();
    for row in &profile.markers {
        sums.entry(&row.marker.name).or_default().add(row);
    }
    for (name, sum) in sums {
        let whose = |end: Option<(f64, Option<u32>)>| Cell::from(end.and_then(|(_, pe)| pe).map(Cell::Pe));
        let value = |end: Option<(f64, Option<u32>)>| Cell::from(end.map(|(value, _)| value));
        grid.row([
            name.into(),
            sum.count.into(),
            sum.sum.map(|all| all / sum.count.max(1) as f64).into(),
            value(sum.min),
            whose(sum.min),
            value(sum.max),
            whose(sum.max),
        ]);
    }
    grid
}

/// A marker over all PEs.
struct MarkerSum {
    count: u64,
    /// `None`: that of some is not known.
    sum: Option<f64>,
    /// Least and greatest, and the first PE that has it, where that is known.
    min: Option<(f64, Option<u32>)>,
    max: Option<(f64, Option<u32>)>,
}

impl Default for MarkerSum {
    fn default() -> MarkerSum {
        MarkerSum { count: 0, sum: Some(0.0), min: None, max: None }
    }
}

impl MarkerSum {
    fn add(&mut self, row: &MarkerRow) {
        let marker = &row.marker;
        self.count = self.count.saturating_add(marker.count);
        self.sum = self.sum.filter(|_| row.pe.is_some()).map(|sum| sum + marker.sum);
        if self.min.is_none_or(|(min, _)| marker.min < min) {
            self.min = Some((marker.min, row.pe));
        }
        if self.max.is_none_or(|(max, _)| marker.max > max) {
            self.max = Some((marker.max, row.pe));
        }
    }
}

/// Markers by PE.
fn markers(profile: &Merged) -> Grid {
    let mut grid = Grid::new("markers", "Markers by PE", &MARKERS, "").on_request();
    for row in &profile.markers {
        let m = &row.marker;
        let own = |value: f64| row.pe.map(|_| value);
        grid.row([
            m.name.as_str().into(),
            row.pe.map_or(Cell::Absent("(others)"), Cell::Pe),
            m.count.into(),
            own(m.sum / m.count.max(1) as f64).into(),
            m.min.into(),
            m.max.into(),
            own(m.last).into(),
        ]);
    }
    grid
}

//! By region of the program, and its markers.

use std::collections::BTreeMap;

use super::callsites::with_time;
use super::{region_name, shown_region};
use crate::model::Profile;
use crate::op::{self, Class};
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

#[derive(Default)]
struct Sum {
    entries: u64,
    total: u64,
    own: u64,
    max: u64,
    open: u64,
    calls: u64,
    bytes: u64,
    library: u64,
    waiting: u64,
    most: (u64, u32),
}

pub(super) fn grids(profile: &Profile, options: &Options) -> Vec<Grid> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for pe in &profile.pes {
        for region in pe.detail.regions.iter().filter(|r| r.entries > 0 || r.name.is_empty()) {
            let sum = sums.entry(&region.name).or_default();
            sum.entries += region.entries;
            sum.total += region.total_ns;
            sum.own += region.own_ns;
            sum.max = sum.max.max(region.max_ns);
            sum.open += region.open;
            let time = if region.name.is_empty() { region.own_ns } else { region.total_ns };
            if time > sum.most.0 {
                sum.most = (time, pe.pe);
            }
        }
        for site in &pe.detail.sites {
            let sum = sums.entry(region_name(pe, site.region)).or_default();
            sum.calls += site.calls;
            sum.bytes += site.bytes;
            let ns = with_time(pe, site).total_ns.unwrap_or(0);
            sum.library += ns;
            if op::lookup(&site.routine).and_then(op::get).is_some_and(|row| Class::waits(row.class)) {
                sum.waiting += ns;
            }
        }
    }
    let mut rows: Vec<(&str, Sum)> = sums.into_iter().collect();
    rows.sort_by_key(|(name, sum)| (std::cmp::Reverse(sum.own), *name));
    let mut grid = Grid::new("regions", "Regions", &COLUMNS, "no region was recorded");
    for (name, sum) in rows {
        let named = |value: u64| if name.is_empty() { Cell::None } else { value.into() };
        grid.row([
            if name.is_empty() { "(outside)".into() } else { shown_region(name).into() },
            named(sum.entries),
            named(sum.total),
            sum.own.into(),
            named(sum.max),
            sum.calls.into(),
            sum.bytes.into(),
            sum.library.into(),
            sum.waiting.into(),
            Cell::Text(sum.most.1.to_string()),
            sum.most.0.into(),
            named(sum.open),
        ]);
    }
    grid.cut(options.top);
    grid.notes.push(
        "total: begin to end; own: without inner regions. Calls and times in the library are those of own.".to_owned(),
    );
    let errors: u32 = profile.pes.iter().map(|pe| pe.detail.region_errors).fold(0, u32::saturating_add);
    if errors > 0 {
        grid.notes.push(format!("{errors} begins, ends or markers could not be kept: wrong order, or no room"));
    }
    let mut grids = vec![grid];
    let mut markers = Grid::new("markers", "Markers", &MARKERS, "");
    for pe in &profile.pes {
        for m in &pe.detail.markers {
            let mean = m.sum / m.count.max(1) as f64;
            let pe = Cell::Text(pe.pe.to_string());
            markers.row([
                m.name.as_str().into(),
                pe,
                m.count.into(),
                mean.into(),
                m.min.into(),
                m.max.into(),
                m.last.into(),
            ]);
        }
    }
    if !markers.rows.is_empty() {
        grids.push(markers);
    }
    grids
}

//! By place in the program.

use std::collections::BTreeMap;

use super::{in_file, place, region_name, shown_region};
use crate::detail::Site;
use crate::model::{Pe, Profile};
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

pub(super) fn grid(profile: &Profile, options: &Options, symbols: &dyn Symbols) -> Grid {
    let mut grid = Grid::new("callsites", "Call sites", &COLUMNS, "no call site was recorded");
    let mut sums: Vec<(Key<'_>, Site)> = merged(profile).into_iter().collect();
    let key = |s: &Site| match options.sort {
        SortKey::Calls => s.calls,
        SortKey::Bytes => s.bytes,
        SortKey::Max => s.max_ns,
        SortKey::Mean => s.total_ns.unwrap_or(0) / s.calls.max(1),
        _ => s.total_ns.unwrap_or(0),
    };
    sums.sort_by(|a, b| key(&b.1).cmp(&key(&a.1)).then_with(|| a.0.cmp(&b.0)));
    let cut = sums.len().saturating_sub(options.top.unwrap_or(usize::MAX));
    sums.truncate(sums.len() - cut);
    for ((path, address, routine, region), site) in &sums {
        let mean = site.total_ns.map(|ns| ns as f64 / site.calls.max(1) as f64);
        let known = !path.is_empty();
        grid.row([
            place(known.then_some((path, *address)), symbols).into(),
            Cell::Text(if routine.is_empty() { "(no room)".to_owned() } else { (*routine).to_owned() }),
            shown_region(region).into(),
            site.calls.into(),
            site.bytes.into(),
            site.total_ns.into(),
            mean.into(),
            site.max_ns.into(),
            site.timed_calls.into(),
            Cell::from(known.then(|| (*path).to_owned())),
            Cell::from(known.then(|| format!("{address:#x}"))),
        ]);
    }
    if cut > 0 {
        grid.notes.push(format!("... and {cut} more"));
    }
    grid
}

/// File, address in it, routine, region.
type Key<'a> = (&'a str, u64, &'a str, &'a str);

/// Call sites over all PEs, whose processes may be loaded at different addresses.
fn merged(profile: &Profile) -> BTreeMap<Key<'_>, Site> {
    let mut sums: BTreeMap<Key<'_>, Site> = BTreeMap::new();
    for pe in &profile.pes {
        for site in &pe.detail.sites {
            let (path, address) = in_file(pe, site.address).unwrap_or_default();
            let key = (path, address, site.routine.as_str(), region_name(pe, site.region));
            let site = with_time(pe, site);
            match sums.get_mut(&key) {
                Some(sum) => sum.merge(&site),
                None => drop(sums.insert(key, site)),
            }
        }
    }
    sums
}

/// A site of which no call was timed takes the mean of its routine on the same PE.
pub(super) fn with_time(pe: &Pe, site: &Site) -> Site {
    let mut site = site.clone();
    if site.total_ns.is_none() {
        let routine = pe.routines.iter().find(|r| r.name == site.routine && r.timed_calls > 0);
        site.total_ns = routine.map(|r| (r.mean_ns() * site.calls as f64) as u64);
    }
    site
}

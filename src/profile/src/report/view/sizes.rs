//! By message size, and by distance.

use crate::merge::Merged;
use crate::report::grid::{Cell, Column, Grid, Kind, column};
use crate::report::{Options, sort, views};
use crate::size::{Distance, size_bounds};

const COLUMNS: [Column; 5] = [
    column("routine", "routine", Kind::Text),
    column("min_bytes", "from", Kind::Bytes),
    column("max_bytes", "to", Kind::Below),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
];

const DISTANCES: [Column; 4] = [
    column("routine", "routine", Kind::Text),
    column("distance", "distance", Kind::Text),
    column("calls", "calls", Kind::Count),
    column("bytes", "bytes", Kind::Bytes),
];

pub(super) fn grid(profile: &Merged, options: &Options) -> Grid {
    let mut grid = Grid::new("sizes", "Message sizes", &COLUMNS, "no call had a payload");
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    for r in &routines {
        for (class, calls, bytes) in views::by_class(r) {
            let (low, high) = size_bounds(usize::from(class));
            let high = if high == u64::MAX { Cell::Absent("any") } else { high.into() };
            grid.row([r.name.as_str().into(), low.into(), high, calls.into(), bytes.into()]);
        }
    }
    grid
}

pub(super) fn distances(profile: &Merged, options: &Options) -> Grid {
    let mut grid = Grid::new("distances", "Near and far", &DISTANCES, "no call was recorded");
    let mut routines = profile.routines.clone();
    sort::select(&mut routines, options.sort, options.top);
    for r in &routines {
        for d in Distance::ALL.into_iter().filter(|&d| r.calls[d as usize] > 0) {
            let (calls, bytes) = (r.calls[d as usize], r.bytes[d as usize]);
            grid.row([r.name.as_str().into(), d.name().into(), calls.into(), bytes.into()]);
        }
    }
    grid
}

//! Prefix scans (Section 9.10.10).

mod doubling;
mod flat;
mod inter_host;

pub use doubling::doubling;
pub use flat::flat;

use super::kernel::Kernel;
use super::table::SCAN;
use crate::base::Fault;
use crate::team::algorithm::Shape;
use crate::team::check::{check_matching, check_overlap, common_arguments, operation};
use crate::team::contribution::Kind;
use crate::team::{Handle, Team, World};

/// Member `i` gets the combination of the elements of members 0 to `i`. Gives 0, -1 for an invalid team.
pub fn inscan(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<i32, Fault> {
    scan(w, team, dest, source, nelems, kernel, Kind::Inscan)
}

/// Member `i` gets the combination of the elements of members 0 to `i - 1`, member 0 zeros.
pub fn exscan(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<i32, Fault> {
    scan(w, team, dest, source, nelems, kernel, Kind::Exscan)
}

fn scan(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    kind: Kind,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    let bytes = nelems.saturating_mul(kernel.elem);
    check_matching(w, team, kind, move || {
        let [size, to, from] = common_arguments(w, dest, source, bytes);
        [size, operation(&kernel), to, from]
    })?;
    if nelems == 0 {
        return Ok(0);
    }
    check_overlap(&w.map, dest, bytes, source, bytes, true)?;
    w.map.local("dest", dest, bytes)?;
    w.map.local("source", source, bytes)?;
    match &team.hierarchy {
        Some(hierarchy) => inter_host::scan(w, team, hierarchy, dest, source, nelems, kernel, kind)?,
        None => intra_host(w, team, dest, source, nelems, kernel, kind)?,
    }
    Ok(0)
}

/// As [`scan`], for members on this host, with arguments that were checked.
#[inline(always)]
pub(super) fn intra_host(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    kind: Kind,
) -> Result<(), Fault> {
    let shape = Shape {
        bytes: nelems * kernel.elem,
        members: team.size as usize,
        oversubscribed: w.map.oversubscribed,
        ..Shape::default()
    };
    let algorithm = SCAN.choose(&w.algorithms, &shape);
    algorithm(&ScanCall { w, team, dest, source, nelems, kernel, kind })
}

/// A scan among members on this host, with arguments that were checked.
pub struct ScanCall<'w> {
    w: &'w World,
    team: &'w Team,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    kind: Kind,
}

/// An algorithm.
pub type Scan = fn(&ScanCall<'_>) -> Result<(), Fault>;

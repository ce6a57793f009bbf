//! Broadcast (Section 9.10.7).

mod flat;
pub(super) mod inter_host;
mod tree;

pub use flat::flat;
pub use tree::tree;

use super::table::BROADCAST;
use crate::base::{Cause, Fault};
use crate::team::algorithm::Shape;
use crate::team::check::{Arg, check_matching, check_overlap, common_arguments};
use crate::team::contribution::{HostCall, Kind, signature};
use crate::team::{Handle, Team, World};

/// Copies `bytes` bytes at `source` on member `root` to `dest` on every member, the root too. Gives 0, -1 for an
/// invalid team.
pub fn broadcast(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    run(w, team, dest, source, bytes, root, true)?;
    Ok(0)
}

/// `root_too`: whether the root's own `dest` is written (not by the routines on active sets).
pub(super) fn run(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    root_too: bool,
) -> Result<(), Fault> {
    if root as u32 >= team.size as u32 {
        return Err(Fault::from(Cause::BadPe { arg: "PE_root", pe: root.into(), npes: team.size.into() }));
    }
    check_matching(w, team, Kind::Broadcast, move || {
        let [size, to, from] = common_arguments(w, dest, source, bytes);
        [size, (Arg::Number("PE_root"), root as u64), to, from]
    })?;
    if bytes == 0 {
        return Ok(());
    }
    // Score-P broadcasts in place, on active sets: the root's buffer is not written, so the result is what one expects.
    check_overlap(&w.map, dest, bytes, source, bytes, !root_too)?;
    w.map.local("dest", dest, bytes)?;
    w.map.local("source", source, bytes)?;
    if let Some(hierarchy) = &team.hierarchy {
        return inter_host::broadcast(w, team, hierarchy, dest, source, bytes, root, root_too);
    }
    intra_host(w, team, dest, source, bytes, root, root_too)
}

/// As [`run`], for members on this host, with arguments that were checked.
#[inline(always)]
pub(super) fn intra_host(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    root_too: bool,
) -> Result<(), Fault> {
    let call = HostCall::begin(w, team, signature(Kind::Broadcast, bytes))?;
    let shape = Shape { bytes, members: team.size as usize, oversubscribed: w.map.oversubscribed, ..Shape::default() };
    let algorithm = call.choose(&BROADCAST, &w.algorithms, &shape);
    algorithm(&BroadcastCall { call, dest, source, bytes, root, root_too })
}

/// A broadcast among members on this host, with arguments that were checked.
pub struct BroadcastCall<'w> {
    call: HostCall<'w>,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    /// Whether the root's own `dest` is written.
    root_too: bool,
}

/// An algorithm.
pub type Broadcast = fn(&BroadcastCall<'_>) -> Result<(), Fault>;

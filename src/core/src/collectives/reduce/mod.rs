//! Reductions (Section 9.10.9).
//!
//! Contributions are combined in the same order for every member, so all get the same result to the last bit.

mod flat;
pub(super) mod inter_host;
mod sliced;
mod tree;
mod whole;

pub use flat::flat;
pub use sliced::sliced;
pub use tree::tree;
pub use whole::whole;

use super::kernel::Kernel;
use super::table::REDUCE;
use crate::base::Fault;
use crate::team::algorithm::Shape;
use crate::team::check::{check_matching, check_overlap, common_arguments, operation};
use crate::team::contribution::{HostCall, Kind, signature};
use crate::team::{Handle, Team, World};

/// Combines `nelems` elements of every member into `dest` on all; `dest` may be `source`. Gives 0, -1 for an invalid
/// team.
pub fn reduce(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    let bytes = nelems.saturating_mul(kernel.elem);
    check_matching(w, team, Kind::Reduce, move || {
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
        Some(hierarchy) => inter_host::reduce(w, team, hierarchy, dest, source, nelems, kernel)?,
        None => intra_host(w, team, dest, source, nelems, kernel)?,
    }
    Ok(0)
}

/// As [`reduce`], for members on this host, with arguments that were checked.
#[inline(always)]
pub(super) fn intra_host(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    let bytes = nelems * kernel.elem;
    let call = HostCall::begin(w, team, signature(Kind::Reduce, bytes))?;
    let shape = Shape { bytes, members: team.size as usize, oversubscribed: w.map.oversubscribed, ..Shape::default() };
    let algorithm = call.choose(&REDUCE, &w.algorithms, &shape);
    algorithm(&ReduceCall { call, dest, source, nelems, kernel })
}

/// A reduction among members on this host, with arguments that were checked.
pub struct ReduceCall<'w> {
    call: HostCall<'w>,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
}

/// An algorithm.
pub type Reduce = fn(&ReduceCall<'_>) -> Result<(), Fault>;

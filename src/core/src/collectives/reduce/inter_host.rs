//! Reductions: within each host, between hosts, and back.
#![allow(unsafe_code)]

use super::super::broadcast;
use super::super::inter_host::{fold, object};
use super::super::kernel::Kernel;
use super::super::table::HOSTS_REDUCE;
use crate::base::Fault;
use crate::inter_host::{BoxedSchedule, Fold, Net, Object, fold_doubling, fold_halving};
use crate::team::algorithm::Shape;
use crate::team::contribution::{Kind, signature};
use crate::team::hierarchical::{Hierarchy, InterHostCall};
use crate::team::{Team, World, sync};
use crate::transport::shm::copy::copy;
use std::ops::Range;

/// As many members of a host work side by side as get slices of this many bytes.
const SLICE: usize = 32 << 10;

#[cold]
#[inline(never)]
pub(in super::super) fn reduce(
    w: &World,
    team: &Team,
    hierarchy: &Hierarchy,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    let bytes = nelems * kernel.elem;
    let call = InterHostCall::begin(w, team, hierarchy, signature(Kind::Reduce, bytes))?;
    super::intra_host(w, &hierarchy.local, dest, source, nelems, kernel)?;
    // SAFETY: checked by the caller.
    let all = unsafe { object(dest, bytes) };
    let lanes = (bytes / SLICE).min(hierarchy.layout.fewest as usize);
    if lanes > 1 {
        side_by_side(&call, &all, nelems, kernel, lanes)?;
    } else {
        if call.leads() {
            let net = call.hosts()?;
            net.run(inter_host(&net, w, &all, kernel))?;
        }
        broadcast::intra_host(w, &hierarchy.local, dest, dest, bytes, 0, false)?;
    }
    call.all_synchronized();
    Ok(())
}

/// All members of this host have its result. The first `lanes` of each host take a slice each to their likes on the
/// other hosts; then they read each other's.
fn side_by_side(
    call: &InterHostCall<'_>,
    all: &Object,
    nelems: usize,
    kernel: Kernel,
    lanes: usize,
) -> Result<(), Fault> {
    let (w, hierarchy) = (call.w, call.hierarchy);
    let slice = |lane: usize| -> Range<usize> {
        nelems * lane / lanes * kernel.elem..nelems * (lane + 1) / lanes * kernel.elem
    };
    let (local, me) = (&hierarchy.local, hierarchy.local.me as usize);
    if me < lanes {
        let mine = slice(me);
        let net = call.same_place()?;
        net.run(inter_host(&net, w, &all.part(mine.start, mine.len()), kernel))?;
    }
    sync(w, local)?;
    for lane in (0..lanes).filter(|lane| *lane != me) {
        let range = slice(lane);
        let here = all.range(range.start, range.len());
        let there = w.map.remote("dest", here, range.len(), local.world(lane as i32))?;
        // SAFETY: checked by the caller; the member that has this slice does not change it until all have met.
        unsafe { copy(here, there, range.len()) };
    }
    sync(w, local)
}

/// An algorithm: combines what all members of a group have in an object.
pub type InterHostReduce = for<'a> fn(&'a dyn Net, &'a Object, Fold) -> BoxedSchedule<'a>;

/// Combines what all members of a group have in `data`.
pub(in super::super) async fn inter_host(net: &dyn Net, w: &World, data: &Object, kernel: Kernel) -> Result<(), Fault> {
    let shape = Shape { bytes: data.len(), members: net.size(), ..Shape::default() };
    HOSTS_REDUCE.choose(&w.algorithms, &shape)(net, data, fold(kernel)).await
}

/// In each round a member swaps all data with another, in messages.
pub fn doubling<'a>(net: &'a dyn Net, data: &'a Object, fold: Fold) -> BoxedSchedule<'a> {
    Box::pin(fold_doubling(net, data, fold))
}

/// Each member combines a share, by gets; shares are passed around by puts.
pub fn halving<'a>(net: &'a dyn Net, data: &'a Object, fold: Fold) -> BoxedSchedule<'a> {
    Box::pin(fold_halving(net, data, fold))
}

//! Reductions: within each host, between hosts, and back.

use super::super::kernel::Kernel;
use super::super::post::{Kind, signature};
use super::super::{broadcast, reduce as local_reduce};
use super::{fold, object};
use crate::base::Fault;
use crate::group::{Net, Object, fold_doubling, fold_halving};
use crate::team::algorithm::{Choice, HostsReduce};
use crate::team::spread::{Call, Spread};
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
    spread: &Spread,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    let bytes = nelems * kernel.elem;
    let call = Call::begin(w, team, spread, signature(Kind::Reduce, bytes))?;
    local_reduce::here(w, &spread.local, dest, source, nelems, kernel)?;
    // SAFETY: checked by the caller.
    let all = unsafe { object(dest, bytes) };
    let lanes = (bytes / SLICE).min(spread.layout.fewest as usize);
    if lanes > 1 {
        side_by_side(&call, &all, nelems, kernel, lanes)?;
    } else {
        if call.leads() {
            between(&call.hosts()?, &w.algorithms, &all, kernel)?;
        }
        broadcast::here(w, &spread.local, dest, dest, bytes, 0, false)?;
    }
    call.all_heard();
    Ok(())
}

/// Combines what all members of a group have in `data`.
pub(in super::super) fn between(
    net: &dyn Net,
    algorithms: &Choice,
    data: &Object,
    kernel: Kernel,
) -> Result<(), Fault> {
    match algorithms.hosts_reduce(data.len()) {
        HostsReduce::Doubling => fold_doubling(net, data, fold(kernel)),
        HostsReduce::Halving => fold_halving(net, data, fold(kernel)),
    }
}

/// All members of this host have its result. The first `lanes` of each host take a slice each to their likes on the other
/// hosts; then they read each other's.
fn side_by_side(call: &Call<'_>, all: &Object, nelems: usize, kernel: Kernel, lanes: usize) -> Result<(), Fault> {
    let (w, spread) = (call.w, call.spread);
    let slice = |lane: usize| -> Range<usize> {
        nelems * lane / lanes * kernel.elem..nelems * (lane + 1) / lanes * kernel.elem
    };
    let (local, me) = (&spread.local, spread.local.me as usize);
    if me < lanes {
        let mine = slice(me);
        between(&call.lane()?, &w.algorithms, &all.part(mine.start, mine.len()), kernel)?;
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

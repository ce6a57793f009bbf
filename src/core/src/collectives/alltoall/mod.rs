//! All-to-all exchange (Sections 9.10.5 and 9.10.6).
#![allow(unsafe_code)]

pub(super) mod inter_host;

use super::gather::rotated;
use crate::base::{Cause, Fault};
use crate::team::check::{Arg, check_matching, check_overlap, common_arguments};
use crate::team::contribution::{HostCall, INLINE, Kind, signature};
use crate::team::{Handle, World};
use crate::transport::shm::copy::copy;
use pellucid_kernels::strided;

/// Block `i` of this member's `source` goes to block `me` of member `i`'s `dest`; `bytes` bytes a block.
/// Gives 0, -1 for an invalid team.
pub fn alltoall(w: &World, team: Handle, dest: *mut u8, source: *const u8, bytes: usize) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    check_matching(w, team, Kind::Alltoall, move || common_arguments(w, dest, source, bytes))?;
    if bytes == 0 {
        return Ok(0);
    }
    let total = bytes.saturating_mul(team.size as usize);
    check_overlap(&w.map, dest, total, source, total, false)?;
    w.map.local("dest", dest, total)?;
    w.map.local("source", source, total)?;
    if let Some(hierarchy) = &team.hierarchy {
        return inter_host::alltoall(w, team, hierarchy, dest, source, bytes).map(|()| 0);
    }
    let call = HostCall::begin(w, team, signature(Kind::Alltoall, bytes))?;
    let inline = total <= INLINE;
    // SAFETY: source was checked for `total` bytes.
    unsafe { call.contribute_bytes(source, if inline { total } else { 0 }) };
    let mine = team.me as usize * bytes;
    for pe in rotated(team.me, team.size) {
        let slot = call.contribution(pe)?;
        let to = dest.wrapping_add(pe as usize * bytes);
        // SAFETY: dest was checked for `total` bytes; the member's source is mapped for as many.
        unsafe {
            if inline {
                copy(to, HostCall::words(slot).0.as_ptr().cast::<u8>().add(mine), bytes);
            } else {
                copy(to, call.of("source", source, total, pe)?.add(mine), bytes);
            }
        }
    }
    call.all_synchronized();
    call.done();
    if !inline {
        call.leave_together()?;
    }
    Ok(0)
}

/// As [`alltoall`] with blocks of `nelems` elements of `elem` bytes that are `dst` and `sst` elements apart.
#[allow(clippy::too_many_arguments)] // the specification's own list
pub fn alltoalls(
    w: &World,
    team: Handle,
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    nelems: usize,
    elem: usize,
) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    check_matching(w, team, Kind::Alltoalls, move || {
        let [bytes, to, from] = common_arguments(w, dest, source, nelems.saturating_mul(elem));
        [bytes, (Arg::Number("dst"), dst as u64), (Arg::Number("sst"), sst as u64), to, from]
    })?;
    if nelems == 0 {
        return Ok(0);
    }
    let count = nelems.saturating_mul(team.size as usize);
    let reach = extent("sst", sst, count, elem)?;
    w.map.local("dest", dest, extent("dst", dst, count, elem)?)?;
    w.map.local("source", source, reach)?;
    if let Some(hierarchy) = &team.hierarchy {
        let shape = inter_host::Strided { dst, sst, nelems, elem };
        return inter_host::alltoalls(w, team, hierarchy, dest, source, shape).map(|()| 0);
    }
    let call = HostCall::begin(w, team, signature(Kind::Alltoalls, nelems.wrapping_mul(elem)))?;
    call.contribute(&[]);
    for pe in rotated(team.me, team.size) {
        call.contribution(pe)?;
        let from = call.of("source", source, reach, pe)?;
        // SAFETY: both extents were checked.
        unsafe { block(dest, from, dst, sst, nelems, elem, pe as usize, team.me as usize) };
    }
    call.all_synchronized();
    call.done();
    call.leave_together()?;
    Ok(0)
}

/// Bytes from the first to the last of `count` elements that are `stride` elements apart.
pub(super) fn extent(arg: &'static str, stride: isize, count: usize, elem: usize) -> Result<usize, Fault> {
    if stride < 1 {
        return Err(Fault::from(Cause::BadValue { arg, value: stride as i64, expected: "a stride of at least 1" }));
    }
    Ok((stride as usize).saturating_mul(count - 1).saturating_add(1).saturating_mul(elem))
}

/// Copies block `from` of a member's source to the member's block `to` of `dest`.
///
/// # Safety
/// Both objects have the extents of their strides.
#[allow(clippy::too_many_arguments)]
pub(super) unsafe fn block(
    dest: *mut u8,
    source: *const u8,
    dst: isize,
    sst: isize,
    nelems: usize,
    elem: usize,
    to: usize,
    from: usize,
) {
    let begin = |block: usize, stride: isize| block * nelems * stride as usize * elem;
    let (dest, source) = (dest.wrapping_add(begin(to, dst)), source.wrapping_add(begin(from, sst)));
    // SAFETY: within the extents, says the caller.
    unsafe { strided::elements(elem, dest, source, dst, sst, nelems) };
}

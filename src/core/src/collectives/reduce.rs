//! Reductions (Section 9.10.9).
//!
//! Contributions are combined in the same order for every member, so all get the same result to the last bit.
#![allow(unsafe_code)]

use super::check::{Arg, check_matching, check_overlap, common_arguments};
use super::contribution::{Bytes, HostCall, INLINE, Kind, signature};
use super::inter_host;
use super::kernel::Kernel;
use crate::base::Fault;
use crate::team::algorithm::{BLOCK, FAN, Reduce};
use crate::team::sync_block::WORDS;
use crate::team::{Handle, Team, World, chosen};
use crate::transport::shm::copy::copy;

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
    let [size, to, from] = common_arguments(w, dest, source, bytes);
    check_matching(w, team, Kind::Reduce, &[size, (Arg::Op, kernel.op as u64), to, from])?;
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
#[inline]
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
    match chosen(w.algorithms.reduce(bytes, team.size, w.map.oversubscribed)) {
        Reduce::Flat => flat(&call, dest, source, nelems, bytes, kernel),
        Reduce::Tree => tree(w, call, dest, source, nelems, bytes, kernel),
        Reduce::Whole => whole(&call, dest, source, nelems, kernel),
        Reduce::Sliced => sliced(&call, dest, source, nelems, kernel),
    }
}

/// Contributions travel in mailbox slots; everyone combines all of them.
#[inline]
fn flat(
    call: &HostCall<'_>,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    bytes: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    // SAFETY: source was checked.
    unsafe { call.contribute_bytes(source, bytes) };
    let mut result = Bytes([0; WORDS]);
    for pe in 0..call.team.size {
        let theirs = HostCall::words(call.contribution(pe)?);
        if pe == 0 {
            result = theirs;
        } else {
            // SAFETY: both buffers hold nelems elements.
            unsafe { (kernel.combine)(result.0.as_mut_ptr().cast(), theirs.0.as_ptr().cast(), nelems) };
        }
    }
    call.all_synchronized();
    // SAFETY: dest was checked.
    unsafe { copy(dest, result.0.as_ptr().cast(), bytes) };
    call.done();
    Ok(())
}

/// Contributions go up a tree, whose members combine those of their branches, and the result comes down.
#[allow(clippy::too_many_arguments)]
fn tree(
    w: &World,
    up: HostCall<'_>,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    bytes: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    let (team, me) = (up.team, up.team.me);
    let children = (me * FAN + 1..=me * FAN + FAN).take_while(|child| *child < team.size);
    let mut result = Bytes([0; WORDS]);
    // SAFETY: source was checked for `bytes` bytes, at most INLINE.
    unsafe { copy(result.0.as_mut_ptr().cast(), source, bytes) };
    for child in children.clone() {
        let theirs = HostCall::words(up.contribution(child)?);
        // SAFETY: both buffers hold nelems elements.
        unsafe { (kernel.combine)(result.0.as_mut_ptr().cast(), theirs.0.as_ptr().cast(), nelems) };
    }
    if me != 0 {
        up.contribute(&result.0);
    }
    up.done();
    let down = HostCall::begin(w, team, signature(Kind::Reduce, bytes))?;
    if me != 0 {
        result = HostCall::words(down.contribution((me - 1) / FAN)?);
    }
    if children.clone().next().is_some() {
        down.contribute(&result.0);
    }
    // SAFETY: dest was checked.
    unsafe { copy(dest, result.0.as_ptr().cast(), bytes) };
    down.done();
    // The result holds everyone's contribution, so everyone is past the collective before `up`.
    up.all_synchronized();
    Ok(())
}

/// Everyone combines everything, reading the members' sources.
fn whole(call: &HostCall<'_>, dest: *mut u8, source: *const u8, nelems: usize, kernel: Kernel) -> Result<(), Fault> {
    call.contribute(&[]);
    let bytes = nelems * kernel.elem;
    let mut result = vec![Bytes([0; WORDS]); bytes.div_ceil(INLINE)];
    let result = result.as_mut_ptr().cast::<u8>();
    for pe in 0..call.team.size {
        call.contribution(pe)?;
        let theirs = call.of("source", source, bytes, pe)?;
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source.
        unsafe { if pe == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, nelems) } }
    }
    call.all_synchronized();
    call.done();
    call.leave_together()?;
    // Only now: `dest` may be the source that others were reading.
    // SAFETY: dest was checked.
    unsafe { copy(dest, result, bytes) };
    Ok(())
}

/// Each member combines one slice of the array and writes it to everybody's `dest`. No other member reads that slice of
/// any source, so that `dest` may be `source`.
fn sliced(call: &HostCall<'_>, dest: *mut u8, source: *const u8, nelems: usize, kernel: Kernel) -> Result<(), Fault> {
    call.contribute(&[]);
    let (me, size, elem) = (call.team.me as usize, call.team.size as usize, kernel.elem);
    let bytes = nelems * elem;
    for pe in 0..call.team.size {
        call.contribution(pe)?;
    }
    call.all_synchronized();
    let (first, last) = (nelems * me / size, nelems * (me + 1) / size);
    let per_block = (BLOCK / elem).max(1);
    // Not on the stack: threads may have little of it.
    let mut block = vec![Bytes([0; WORDS]); BLOCK / INLINE + 1];
    let block = block.as_mut_ptr().cast::<u8>();
    let mut at = first;
    while at < last {
        let n = per_block.min(last - at);
        for pe in 0..call.team.size {
            let theirs = call.of("source", source, bytes, pe)?.wrapping_add(at * elem);
            // SAFETY: the block holds per_block elements; the member's source has elements at..at + n.
            unsafe { if pe == 0 { copy(block, theirs, n * elem) } else { (kernel.combine)(block, theirs, n) } }
        }
        for pe in 0..call.team.size {
            let to = call.of("dest", dest, bytes, pe)?.wrapping_add(at * elem);
            // SAFETY: as above, for the member's dest.
            unsafe { copy(to, block, n * elem) };
        }
        at += n;
    }
    call.done();
    call.leave_together()?;
    Ok(())
}

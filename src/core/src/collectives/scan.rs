//! Prefix scans (Section 9.10.10).
#![allow(unsafe_code)]

use super::check::{check_matching, check_overlap, common_arguments};
use super::contribution::{Bytes, HostCall, INLINE, Kind, signature};
use super::inter_host;
use super::kernel::Kernel;
use crate::base::Fault;
use crate::team::algorithm::Scan;
use crate::team::sync_block::WORDS;
use crate::team::{Handle, Team, World, chosen};
use crate::transport::shm::copy::copy;

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
    check_matching(w, team, kind, &common_arguments(w, dest, source, bytes))?;
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
#[inline]
pub(super) fn intra_host(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
    kind: Kind,
) -> Result<(), Fault> {
    let bytes = nelems * kernel.elem;
    if chosen(w.algorithms.scan(bytes, team.size, w.map.oversubscribed)) == Scan::Doubling {
        return doubling(w, team, dest, source, nelems, bytes, kernel, kind);
    }
    let call = HostCall::begin(w, team, signature(kind, bytes))?;
    let inline = bytes <= INLINE;
    // SAFETY: source was checked.
    unsafe { call.contribute_bytes(source, if inline { bytes } else { 0 }) };
    let mut result = vec![Bytes([0; WORDS]); bytes.div_ceil(INLINE)];
    let result = result.as_mut_ptr().cast::<u8>();
    let before = if kind == Kind::Inscan { team.me + 1 } else { team.me };
    for pe in 0..before {
        let slot = call.contribution(pe)?;
        let words = HostCall::words(slot);
        let theirs = if inline { words.0.as_ptr().cast() } else { call.of("source", source, bytes, pe)?.cast_const() };
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source or slot.
        unsafe { if pe == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, nelems) } }
    }
    call.done();
    if !inline {
        // `dest` may be the source that others read.
        call.leave_together()?;
    }
    // SAFETY: dest was checked.
    unsafe { copy(dest, result, bytes) };
    Ok(())
}

/// In round r each member hands on the combination of the 2^r contributions that end with its own.
#[allow(clippy::too_many_arguments)]
fn doubling(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    bytes: usize,
    kernel: Kernel,
    kind: Kind,
) -> Result<(), Fault> {
    // `with_mine` ends with this member's contribution, `before` with the previous member's.
    let mut with_mine = Bytes([0; WORDS]);
    let mut before: Option<Bytes> = None;
    // SAFETY: source was checked for `bytes` bytes, at most INLINE.
    unsafe { copy(with_mine.0.as_mut_ptr().cast(), source, bytes) };
    let combine = |left: Bytes, right: &Bytes| {
        let mut sum = left;
        // SAFETY: both buffers hold nelems elements.
        unsafe { (kernel.combine)(sum.0.as_mut_ptr().cast(), right.0.as_ptr().cast(), nelems) };
        sum
    };
    let mut distance = 1;
    while distance < team.size {
        let call = HostCall::begin(w, team, signature(kind, bytes))?;
        if team.me + distance < team.size {
            call.contribute(&with_mine.0);
        }
        if team.me >= distance {
            let theirs = HostCall::words(call.contribution(team.me - distance)?);
            before = Some(before.map_or(theirs, |b| combine(theirs, &b)));
            with_mine = combine(theirs, &with_mine);
        }
        call.done();
        distance *= 2;
    }
    let result = if kind == Kind::Inscan { with_mine } else { before.unwrap_or(Bytes([0; WORDS])) };
    // SAFETY: dest was checked.
    unsafe { copy(dest, result.0.as_ptr().cast(), bytes) };
    Ok(())
}

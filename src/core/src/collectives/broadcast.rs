//! Broadcast (Section 9.10.7).
#![allow(unsafe_code)]

use super::check::{Arg, check_matching, check_overlap, place};
use super::contribution::{Bytes, HostCall, INLINE, Kind, signature};
use super::inter_host;
use crate::base::{Cause, Fault};
use crate::team::algorithm::{Broadcast, FAN};
use crate::team::sync_block::WORDS;
use crate::team::{Handle, Team, World, chosen};
use crate::transport::shm::copy::copy;

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
    check_matching(
        w,
        team,
        Kind::Broadcast,
        &[
            (Arg::Number("bytes"), bytes as u64),
            (Arg::Number("PE_root"), root as u64),
            (Arg::Object("dest"), place(&w.map, dest)),
            (Arg::Object("source"), place(&w.map, source)),
        ],
    )?;
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
#[inline]
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
    if chosen(w.algorithms.broadcast(bytes, team.size, w.map.oversubscribed)) == Broadcast::Tree {
        // SAFETY: source and dest were checked for `bytes` bytes, at most INLINE.
        return unsafe { tree(&call, dest, source, bytes, root, root_too) };
    }
    if team.me == root {
        // SAFETY: source and dest were checked for `bytes` bytes.
        unsafe {
            call.contribute_bytes(source, if bytes <= INLINE { bytes } else { 0 });
            if root_too && dest.cast_const() != source {
                std::ptr::copy(source, dest, bytes);
            }
        }
        call.done();
        if bytes > INLINE {
            // The others read from `source`, which the caller may change after this.
            call.wait_for_others()?;
        }
    } else {
        let slot = call.contribution(root)?;
        // SAFETY: dest was checked; the root's source is mapped for as many bytes.
        unsafe {
            if bytes <= INLINE {
                copy(dest, HostCall::words(slot).0.as_ptr().cast(), bytes);
            } else {
                copy(dest, call.of("source", source, bytes, root)?, bytes);
            }
        }
        call.done();
    }
    Ok(())
}

/// Members pass the data on through their contributions.
///
/// # Safety
/// `source` and `dest` have `bytes` bytes, at most INLINE.
unsafe fn tree(
    call: &HostCall<'_>,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    root: i32,
    root_too: bool,
) -> Result<(), Fault> {
    let size = call.team.size;
    // Ranks as seen from the root.
    let rank = (call.team.me - root).rem_euclid(size);
    let mut data = Bytes([0; WORDS]);
    if rank == 0 {
        // SAFETY: at most INLINE bytes, says the caller.
        unsafe { copy(data.0.as_mut_ptr().cast(), source, bytes) };
    } else {
        data = HostCall::words(call.contribution(((rank - 1) / FAN + root) % size)?);
    }
    if rank * FAN + 1 < size {
        call.contribute(&data.0);
    }
    if rank != 0 || root_too {
        // SAFETY: as above.
        unsafe { copy(dest, data.0.as_ptr().cast(), bytes) };
    }
    call.done();
    Ok(())
}

//! Collect and fcollect (Section 9.10.8).
#![allow(unsafe_code)]

use super::agree::{Arg, agree, alike, apart, place};
use super::barrier;
use super::post::{INLINE, Kind, Turn, signature};
use super::spread;
use crate::base::Fault;
use crate::team::algorithm::Fcollect;
use crate::team::{Handle, World};
use crate::transport::shm::copy::copy;

/// Concatenates `bytes` bytes of every member, in the order of the team. Gives 0, -1 for an invalid team.
pub fn fcollect(w: &World, team: Handle, dest: *mut u8, source: *const u8, bytes: usize) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    agree(w, team, Kind::Fcollect, &alike(w, dest, source, bytes))?;
    if bytes == 0 {
        return Ok(0);
    }
    apart(&w.map, dest, bytes.saturating_mul(team.size as usize), source, bytes, false)?;
    w.map.local("dest", dest, bytes.saturating_mul(team.size as usize))?;
    w.map.local("source", source, bytes)?;
    if let Some(spread) = &team.spread {
        return spread::fcollect(w, team, spread, dest, source, bytes).map(|()| 0);
    }
    let turn = Turn::begin(w, team, signature(Kind::Fcollect, bytes))?;
    if w.algorithms.fcollect(bytes, team.size, w.map.crowded) == Fcollect::Leader {
        return leader(w, &turn, dest, source, bytes);
    }
    let inline = bytes <= INLINE;
    // SAFETY: source was checked for `bytes` bytes.
    unsafe { turn.show_bytes(source, if inline { bytes } else { 0 }) };
    for pe in from_me(team.me, team.size) {
        let post = turn.see(pe)?;
        let to = dest.wrapping_add(pe as usize * bytes);
        // SAFETY: dest was checked for `bytes` bytes a member; the member's source is mapped.
        unsafe {
            if inline {
                copy(to, Turn::words(post).0.as_ptr().cast(), bytes);
            } else {
                copy(to, turn.of("source", source, bytes, pe)?, bytes);
            }
        }
    }
    turn.all_heard();
    turn.done();
    if !inline {
        turn.leave_together()?;
    }
    Ok(0)
}

/// Everyone writes to member 0's `dest` and reads the whole from there: two meetings and one read, where reading small
/// contributions one by one would take a cache line each.
fn leader(w: &World, turn: &Turn<'_>, dest: *mut u8, source: *const u8, bytes: usize) -> Result<i32, Fault> {
    let team = turn.team;
    let total = bytes * team.size as usize;
    let there = turn.of("dest", dest, total, 0)?;
    // Nobody writes to the leader's dest before the leader is in this call.
    barrier::sync(w, team)?;
    // SAFETY: source and dest were checked by the caller; the leader's dest is mapped.
    unsafe { copy(there.wrapping_add(team.me as usize * bytes), source, bytes) };
    barrier::sync(w, team)?;
    if team.me != 0 {
        // SAFETY: as above.
        unsafe { copy(dest, there, total) };
    }
    turn.done();
    turn.leave_together()?;
    Ok(0)
}

/// Bytes that fit into a post beside the length.
const SMALL: usize = INLINE - 8;

/// As [`fcollect`], with a size that may differ between members and may be 0.
pub fn collect(w: &World, team: Handle, dest: *mut u8, source: *const u8, bytes: usize) -> Result<i32, Fault> {
    w.map.ready()?;
    let Some(team) = w.team(team)? else {
        return Ok(-1);
    };
    agree(w, team, Kind::Collect, &[(Arg::Object("dest"), place(&w.map, dest))])?;
    if bytes > 0 {
        w.map.local("source", source, bytes)?;
    }
    if let Some(spread) = &team.spread {
        return spread::collect(w, team, spread, dest, source, bytes).map(|()| 0);
    }
    let turn = Turn::begin(w, team, signature(Kind::Collect, 0))?;
    let mut words = [bytes as u64, 0, 0, 0, 0, 0];
    if bytes <= SMALL && bytes > 0 {
        // SAFETY: source was checked; the words have SMALL bytes behind the first.
        unsafe { copy(words.as_mut_ptr().add(1).cast(), source, bytes) };
    }
    turn.show(&words);
    let mut offset = 0usize;
    for pe in 0..team.size {
        let theirs = Turn::words(turn.see(pe)?);
        let count = theirs.0[0] as usize;
        if count == 0 {
            continue;
        }
        let to = dest.wrapping_add(offset);
        w.map.local("dest", to, count)?;
        apart(&w.map, to, count, source, bytes, false)?;
        // SAFETY: the part of dest was checked; the member's source is mapped.
        unsafe {
            if count <= SMALL {
                copy(to, theirs.0.as_ptr().add(1).cast(), count);
            } else {
                copy(to, turn.of("source", source, count, pe)?, count);
            }
        }
        offset += count;
    }
    turn.all_heard();
    turn.done();
    if bytes > SMALL {
        turn.wait_for_others()?;
    }
    Ok(0)
}

/// All members, this one first: so that not all read from the same one at a time.
pub(super) fn from_me(me: i32, size: i32) -> impl Iterator<Item = i32> {
    (me..size).chain(0..me)
}

//! Reductions (Section 9.10.9).
//!
//! Contributions are combined in the same order for every member, so all get the same result to the last bit.
#![allow(unsafe_code)]

use super::agree::{Arg, agree, alike, apart};
use super::kernel::Kernel;
use super::post::{Bytes, INLINE, Kind, Turn, signature};
use super::spread;
use crate::base::Fault;
use crate::team::algorithm::{BLOCK, FAN, Reduce};
use crate::team::area::WORDS;
use crate::team::{Handle, Team, World};
use crate::transport::shm::copy::copy;

/// Combines `nelems` elements of every member into `dest` on all; `dest` may be `source`. Gives 0, -1 for an invalid team.
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
    let [size, to, from] = alike(w, dest, source, bytes);
    agree(w, team, Kind::Reduce, &[size, (Arg::Op, kernel.op as u64), to, from])?;
    if nelems == 0 {
        return Ok(0);
    }
    apart(&w.map, dest, bytes, source, bytes, true)?;
    w.map.local("dest", dest, bytes)?;
    w.map.local("source", source, bytes)?;
    match &team.spread {
        Some(spread) => spread::reduce(w, team, spread, dest, source, nelems, kernel)?,
        None => here(w, team, dest, source, nelems, kernel)?,
    }
    Ok(0)
}

/// As [`reduce`], for members on this host, with arguments that were checked.
#[inline]
pub(super) fn here(
    w: &World,
    team: &Team,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    let bytes = nelems * kernel.elem;
    let turn = Turn::begin(w, team, signature(Kind::Reduce, bytes))?;
    match w.algorithms.reduce(bytes, team.size, w.map.crowded) {
        Reduce::Flat => flat(&turn, dest, source, nelems, bytes, kernel),
        Reduce::Tree => tree(w, turn, dest, source, nelems, bytes, kernel),
        Reduce::Whole => whole(&turn, dest, source, nelems, kernel),
        Reduce::Sliced => sliced(&turn, dest, source, nelems, kernel),
    }
}

/// Contributions travel in the posts; everyone combines all of them.
#[inline]
fn flat(
    turn: &Turn<'_>,
    dest: *mut u8,
    source: *const u8,
    nelems: usize,
    bytes: usize,
    kernel: Kernel,
) -> Result<(), Fault> {
    // SAFETY: source was checked.
    unsafe { turn.show_bytes(source, bytes) };
    let mut result = Bytes([0; WORDS]);
    for pe in 0..turn.team.size {
        let theirs = Turn::words(turn.see(pe)?);
        if pe == 0 {
            result = theirs;
        } else {
            // SAFETY: both buffers hold nelems elements.
            unsafe { (kernel.combine)(result.0.as_mut_ptr().cast(), theirs.0.as_ptr().cast(), nelems) };
        }
    }
    turn.all_heard();
    // SAFETY: dest was checked.
    unsafe { copy(dest, result.0.as_ptr().cast(), bytes) };
    turn.done();
    Ok(())
}

/// Contributions go up a tree, whose members combine those of their branches, and the result comes down.
#[allow(clippy::too_many_arguments)]
fn tree(
    w: &World,
    up: Turn<'_>,
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
        let theirs = Turn::words(up.see(child)?);
        // SAFETY: both buffers hold nelems elements.
        unsafe { (kernel.combine)(result.0.as_mut_ptr().cast(), theirs.0.as_ptr().cast(), nelems) };
    }
    if me != 0 {
        up.show(&result.0);
    }
    up.done();
    let down = Turn::begin(w, team, signature(Kind::Reduce, bytes))?;
    if me != 0 {
        result = Turn::words(down.see((me - 1) / FAN)?);
    }
    if children.clone().next().is_some() {
        down.show(&result.0);
    }
    // SAFETY: dest was checked.
    unsafe { copy(dest, result.0.as_ptr().cast(), bytes) };
    down.done();
    // The result holds everyone's contribution, so everyone is past the collective before `up`.
    up.all_heard();
    Ok(())
}

/// Everyone combines everything, reading the members' sources.
fn whole(turn: &Turn<'_>, dest: *mut u8, source: *const u8, nelems: usize, kernel: Kernel) -> Result<(), Fault> {
    turn.show(&[]);
    let bytes = nelems * kernel.elem;
    let mut result = vec![Bytes([0; WORDS]); bytes.div_ceil(INLINE)];
    let result = result.as_mut_ptr().cast::<u8>();
    for pe in 0..turn.team.size {
        turn.see(pe)?;
        let theirs = turn.of("source", source, bytes, pe)?;
        // SAFETY: the buffer has at least `bytes` bytes, as every member's source.
        unsafe { if pe == 0 { copy(result, theirs, bytes) } else { (kernel.combine)(result, theirs, nelems) } }
    }
    turn.all_heard();
    turn.done();
    turn.leave_together()?;
    // Only now: `dest` may be the source that others were reading.
    // SAFETY: dest was checked.
    unsafe { copy(dest, result, bytes) };
    Ok(())
}

/// Each member combines one slice of the array and writes it to everybody's `dest`. No other member reads that slice of any
/// source, so that `dest` may be `source`.
fn sliced(turn: &Turn<'_>, dest: *mut u8, source: *const u8, nelems: usize, kernel: Kernel) -> Result<(), Fault> {
    turn.show(&[]);
    let (me, size, elem) = (turn.team.me as usize, turn.team.size as usize, kernel.elem);
    let bytes = nelems * elem;
    for pe in 0..turn.team.size {
        turn.see(pe)?;
    }
    turn.all_heard();
    let (first, last) = (nelems * me / size, nelems * (me + 1) / size);
    let per_block = (BLOCK / elem).max(1);
    // Not on the stack: threads may have little of it.
    let mut block = vec![Bytes([0; WORDS]); BLOCK / INLINE + 1];
    let block = block.as_mut_ptr().cast::<u8>();
    let mut at = first;
    while at < last {
        let n = per_block.min(last - at);
        for pe in 0..turn.team.size {
            let theirs = turn.of("source", source, bytes, pe)?.wrapping_add(at * elem);
            // SAFETY: the block holds per_block elements; the member's source has elements at..at + n.
            unsafe { if pe == 0 { copy(block, theirs, n * elem) } else { (kernel.combine)(block, theirs, n) } }
        }
        for pe in 0..turn.team.size {
            let to = turn.of("dest", dest, bytes, pe)?.wrapping_add(at * elem);
            // SAFETY: as above, for the member's dest.
            unsafe { copy(to, block, n * elem) };
        }
        at += n;
    }
    turn.done();
    turn.leave_together()?;
    Ok(())
}

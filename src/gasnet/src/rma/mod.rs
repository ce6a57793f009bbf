//! Puts and gets. On one host they are complete when they return; over the network an event tells.
//!
//! | file | idea |
//! |---|---|
//! | `mod.rs` | moving data, wherever it is |
//! | `entry.rs` | the functions of the API: most transfers are done there, in few instructions |
//! | `otherwise.rs` | the same, of all the others |
#![allow(unsafe_code)]

mod entry;
mod otherwise;

use crate::event::{self, Counted, Slot};
use crate::fail::{need, refuse};
use crate::place::{self, Place};
use crate::types::{Flags, Rank, Tm};
use crate::{emulated, record};
use pellucid_core::transport::shm::copy::copy;
use pellucid_core::transport::{Channel, Completion};
use pellucid_profile::op::Operation;

/// Moves data to or from memory of a PE (address, bytes): by `here` where it is mapped, else by `away`. Gives whether
/// it is complete.
#[inline(always)]
fn transfer(
    routine: &'static str,
    (pe, addr, bytes): (i32, *mut u8, usize),
    here: impl FnOnce(*mut u8),
    away: impl FnOnce(Place),
) -> bool {
    if bytes == 0 {
        return true;
    }
    match place::locate(routine, pe, addr, bytes) {
        Place::Here(at) => here(at),
        other => {
            away(other);
            return false;
        }
    }
    true
}

/// Refuses a transfer whose ends overlap, as far as that matters: what is copied in one piece of 16 bytes at most, or
/// onto itself, comes out as it should.
#[inline(always)]
fn check_overlap(routine: &'static str, one: *const u8, other: *const u8, bytes: usize) {
    if overlap(one, other, bytes) {
        overlapping(routine, bytes, (one as usize).abs_diff(other as usize))
    }
}

#[inline(always)]
fn overlap(one: *const u8, other: *const u8, bytes: usize) -> bool {
    // Beyond 0, less than the bytes.
    bytes > 16 && (one as usize).abs_diff(other as usize).wrapping_sub(1) < bytes - 1
}

#[cold]
fn overlapping(routine: &'static str, bytes: usize, distance: usize) -> ! {
    refuse(
        routine,
        format!("source and destination, of {bytes} bytes, begin {distance} bytes apart: they may not overlap"),
    )
}

/// A call's peer, memory there, bytes and flags.
#[derive(Debug, Clone, Copy)]
struct Remote {
    tm: Tm,
    rank: Rank,
    addr: *mut u8,
    bytes: usize,
    flags: Flags,
}

/// Which way data goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Put,
    Get,
}

/// Most puts and gets: of memory that is mapped here, of which nothing is to be recorded but that there was one. False
/// where anything is not so or not allowed, and then nothing has been done: `otherwise.rs` does it, or says what is
/// wrong. What only that needs is no business of this one, which keeps all in registers.
///
/// # Safety
/// As [`put`] and [`get`].
#[inline(always)]
unsafe fn at_once(recorded: impl Operation, way: Way, remote: Remote, near: *mut u8) -> bool {
    let Remote { tm, rank, addr, bytes, flags } = remote;
    let Some((pe, at)) = place::at_hand(tm, rank, addr, bytes, flags) else { return false };
    if overlap(at, near, bytes) || !record::is_only_sized(recorded, pe, addr as usize, bytes) {
        return false;
    }
    let (dest, source) = if way == Way::Put { (at, near) } else { (near, at) };
    // SAFETY: mapped, and apart; what is near is the caller's word.
    unsafe { copy(dest, source, bytes) };
    true
}

/// Puts; `counted` is asked for where it is not complete at the return. Gives whether it is.
///
/// # Safety
/// The source is readable, until the put is complete.
#[inline(always)]
pub unsafe fn put(
    routine: &'static str,
    pe: i32,
    dest: *mut u8,
    source: *const u8,
    bytes: usize,
    counted: impl FnOnce() -> &'static Counted,
) -> bool {
    // SAFETY: mapped; the source is the caller's word.
    let here = |at: *mut u8| unsafe {
        check_overlap(routine, at, source, bytes);
        copy(at, source, bytes);
    };
    // SAFETY: as above.
    let away = |place| unsafe { put_away(routine, place, source, bytes, counted()) };
    transfer(routine, (pe, dest, bytes), here, away)
}

/// # Safety
/// As [`put`].
#[cold]
#[inline(never)]
unsafe fn put_away(routine: &'static str, place: Place, source: *const u8, bytes: usize, counted: &'static Counted) {
    match place {
        Place::Network(transport, to) => {
            let completion = Completion::Event(counted.slot());
            // SAFETY: the caller's.
            need(routine, unsafe { transport.put(Channel::DEFAULT, to, source, bytes, completion) });
        }
        Place::Owner { pe, addr } => {
            // SAFETY: the caller's.
            emulated::put(routine, pe, addr, unsafe { std::slice::from_raw_parts(source, bytes) }, counted);
        }
        Place::Here(_) => {}
    }
}

/// Gets, as [`put`].
///
/// # Safety
/// The destination is writable, until the get is complete.
#[inline(always)]
pub unsafe fn get(
    routine: &'static str,
    pe: i32,
    dest: *mut u8,
    source: *mut u8,
    bytes: usize,
    counted: impl FnOnce() -> &'static Counted,
) -> bool {
    // SAFETY: mapped; the destination is the caller's word.
    let here = |at: *mut u8| unsafe {
        check_overlap(routine, at, dest, bytes);
        copy(dest, at, bytes);
    };
    // SAFETY: as above.
    let away = |place| unsafe { get_from_afar(routine, place, dest, bytes, counted()) };
    transfer(routine, (pe, source, bytes), here, away)
}

/// # Safety
/// As [`get`].
#[cold]
#[inline(never)]
unsafe fn get_from_afar(routine: &'static str, place: Place, dest: *mut u8, bytes: usize, counted: &'static Counted) {
    match place {
        Place::Network(transport, from) => {
            let completion = Completion::Event(counted.slot());
            // SAFETY: the caller's.
            need(routine, unsafe { transport.get(Channel::DEFAULT, dest, from, bytes, completion) });
        }
        Place::Owner { pe, addr } => emulated::get(routine, pe, addr, dest, bytes, counted),
        Place::Here(_) => {}
    }
}

/// Runs a transfer with a slot that it may ask for, and gives that.
pub fn with_slot(transfer: impl FnOnce(&mut dyn FnMut() -> &'static Counted) -> bool) -> Option<&'static Slot> {
    let mut slot = None;
    transfer(&mut || slot.get_or_insert_with(event::take).counted);
    slot
}

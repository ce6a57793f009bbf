//! Puts and gets. On one host they are complete when they return; over the network an event tells.
#![allow(unsafe_code)]

use crate::event::{self, Counted, Slot};
use crate::fail::{need, refuse, unrestricted};
use crate::place::{self, Place};
use crate::types::{EVENT_INVALID, EventHandle, Flags, Rank, Tm, category};
use crate::{emulated, nbi, op, record};
use pellucid_core::transport::shm::copy::copy;
use pellucid_core::transport::{COPIED, Channel, Completion};
use std::ffi::{c_int, c_void};

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
    let distance = (one as usize).abs_diff(other as usize);
    if bytes > 16 && distance < bytes && distance > 0 {
        overlapping(routine, bytes, distance)
    }
}

#[cold]
fn overlapping(routine: &'static str, bytes: usize, distance: usize) -> ! {
    refuse(
        routine,
        format!("source and destination, of {bytes} bytes, begin {distance} bytes apart: they may not overlap"),
    )
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

fn blocking(routine: &'static str, transfer: impl FnOnce(&mut dyn FnMut() -> &'static Counted) -> bool) {
    if let Some(slot) = with_slot(transfer) {
        slot.finish(routine);
    }
}

/// When a put gives its source back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LocalCompletion {
    Now,
    Defer,
    Group,
    Event(*mut EventHandle),
}

impl LocalCompletion {
    fn of(routine: &'static str, lc_opt: *mut EventHandle, may_group: bool) -> Self {
        match lc_opt as usize {
            1 => Self::Now,
            2 => Self::Defer,
            3 if may_group => Self::Group,
            0 => refuse(routine, "lc_opt is NULL: expected GEX_EVENT_NOW, _DEFER, _GROUP or a place for an event"),
            3 => refuse(routine, "lc_opt = GEX_EVENT_GROUP is for NBI operations"),
            _ if may_group => refuse(routine, "lc_opt points to an event: NBI operations have GEX_EVENT_GROUP"),
            _ => Self::Event(lc_opt),
        }
    }
}

/// `gex_RMA_PutBlocking`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_PutBlocking(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_RMA_PutBlocking";
    unrestricted(R);
    let pe = place::transfer_peer(R, tm, rank, flags);
    // SAFETY: the caller's.
    record::sized(op!(PUT_BLOCKING), pe, dest as usize, bytes, || unsafe {
        blocking(R, |slot| put(R, pe, dest.cast(), source.cast(), bytes, slot));
    });
    0
}

/// `gex_RMA_PutNB`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_PutNB(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    lc_opt: *mut EventHandle,
    flags: Flags,
) -> EventHandle {
    const R: &str = "gex_RMA_PutNB";
    unrestricted(R);
    let local = LocalCompletion::of(R, lc_opt, false);
    let pe = place::transfer_peer(R, tm, rank, flags);
    record::sized(op!(PUT_NB), pe, dest as usize, bytes, || {
        // SAFETY: the caller's.
        let slot = with_slot(|slot| unsafe { put(R, pe, dest.cast(), source.cast(), bytes, slot) });
        let leaf = slot.map_or(EVENT_INVALID, Slot::leaf);
        let root = match (slot, local) {
            (Some(slot), LocalCompletion::Now) if bytes > COPIED => {
                slot.finish(R);
                EVENT_INVALID
            }
            (slot, _) => slot.map_or(EVENT_INVALID, Slot::root),
        };
        if let LocalCompletion::Event(at) = local {
            // SAFETY: a place for an event, says the caller.
            unsafe { at.write(leaf) };
        }
        root
    })
}

/// `gex_RMA_PutNBI`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_PutNBI(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    source: *const c_void,
    bytes: usize,
    lc_opt: *mut EventHandle,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_RMA_PutNBI";
    unrestricted(R);
    let local = LocalCompletion::of(R, lc_opt, true);
    if local == LocalCompletion::Now && bytes > COPIED {
        // SAFETY: the caller's.
        return unsafe { gex_RMA_PutBlocking(tm, rank, dest, source, bytes, flags) };
    }
    let pe = place::transfer_peer(R, tm, rank, flags);
    // SAFETY: the caller's.
    record::sized(op!(PUT_NBI), pe, dest as usize, bytes, || unsafe {
        put(R, pe, dest.cast(), source.cast(), bytes, || nbi::counted(category::PUT));
    });
    0
}

/// `gex_RMA_GetBlocking`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_GetBlocking(
    tm: Tm,
    dest: *mut c_void,
    rank: Rank,
    source: *mut c_void,
    bytes: usize,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_RMA_GetBlocking";
    unrestricted(R);
    let pe = place::transfer_peer(R, tm, rank, flags);
    // SAFETY: the caller's.
    record::sized(op!(GET_BLOCKING), pe, source as usize, bytes, || unsafe {
        blocking(R, |slot| get(R, pe, dest.cast(), source.cast(), bytes, slot));
    });
    0
}

/// `gex_RMA_GetNB`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_GetNB(
    tm: Tm,
    dest: *mut c_void,
    rank: Rank,
    source: *mut c_void,
    bytes: usize,
    flags: Flags,
) -> EventHandle {
    const R: &str = "gex_RMA_GetNB";
    unrestricted(R);
    let pe = place::transfer_peer(R, tm, rank, flags);
    // SAFETY: the caller's.
    let slot = record::sized(op!(GET_NB), pe, source as usize, bytes, || unsafe {
        with_slot(|slot| get(R, pe, dest.cast(), source.cast(), bytes, slot))
    });
    slot.map_or(EVENT_INVALID, Slot::root)
}

/// `gex_RMA_GetNBI`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_GetNBI(
    tm: Tm,
    dest: *mut c_void,
    rank: Rank,
    source: *mut c_void,
    bytes: usize,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_RMA_GetNBI";
    unrestricted(R);
    let pe = place::transfer_peer(R, tm, rank, flags);
    // SAFETY: the caller's.
    record::sized(op!(GET_NBI), pe, source as usize, bytes, || unsafe {
        get(R, pe, dest.cast(), source.cast(), bytes, || nbi::counted(category::GET));
    });
    0
}

fn check_value(routine: &'static str, bytes: usize) {
    if !(1..=8).contains(&bytes) {
        refuse(routine, format!("nbytes = {bytes}: a value has 1 to 8"))
    }
}

/// `gex_RMA_GetBlockingVal`
#[unsafe(no_mangle)]
pub extern "C" fn gex_RMA_GetBlockingVal(tm: Tm, rank: Rank, source: *mut c_void, bytes: usize, flags: Flags) -> usize {
    const R: &str = "gex_RMA_GetBlockingVal";
    unrestricted(R);
    check_value(R, bytes);
    let pe = place::transfer_peer(R, tm, rank, flags);
    let mut value = [0u8; 8];
    // SAFETY: the value lives here until the get is complete.
    record::sized(op!(GET_VAL), pe, source as usize, bytes, || unsafe {
        blocking(R, |slot| get(R, pe, value.as_mut_ptr(), source.cast(), bytes, slot));
    });
    usize::from_le_bytes(value)
}

/// `gex_RMA_PutBlockingVal`
#[unsafe(no_mangle)]
pub extern "C" fn gex_RMA_PutBlockingVal(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    value: usize,
    bytes: usize,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_RMA_PutBlockingVal";
    unrestricted(R);
    check_value(R, bytes);
    let pe = place::transfer_peer(R, tm, rank, flags);
    let value = value.to_le_bytes();
    // SAFETY: the value lives here until the put is complete.
    record::sized(op!(PUT_VAL_BLOCKING), pe, dest as usize, bytes, || unsafe {
        blocking(R, |slot| put(R, pe, dest.cast(), value.as_ptr(), bytes, slot));
    });
    0
}

/// `gex_RMA_PutNBVal`
#[unsafe(no_mangle)]
pub extern "C" fn gex_RMA_PutNBVal(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    value: usize,
    bytes: usize,
    flags: Flags,
) -> EventHandle {
    const R: &str = "gex_RMA_PutNBVal";
    unrestricted(R);
    check_value(R, bytes);
    let pe = place::transfer_peer(R, tm, rank, flags);
    let value = value.to_le_bytes();
    // SAFETY: a source of so few bytes is copied at once.
    let slot = record::sized(op!(PUT_VAL_NB), pe, dest as usize, bytes, || unsafe {
        with_slot(|slot| put(R, pe, dest.cast(), value.as_ptr(), bytes, slot))
    });
    slot.map_or(EVENT_INVALID, Slot::root)
}

/// `gex_RMA_PutNBIVal`
#[unsafe(no_mangle)]
pub extern "C" fn gex_RMA_PutNBIVal(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    value: usize,
    bytes: usize,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_RMA_PutNBIVal";
    unrestricted(R);
    check_value(R, bytes);
    let pe = place::transfer_peer(R, tm, rank, flags);
    let value = value.to_le_bytes();
    // SAFETY: as above.
    record::sized(op!(PUT_VAL_NBI), pe, dest as usize, bytes, || unsafe {
        put(R, pe, dest.cast(), value.as_ptr(), bytes, || nbi::counted(category::PUT));
    });
    0
}

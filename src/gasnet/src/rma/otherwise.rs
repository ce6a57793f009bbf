//! Puts and gets that are out of the ordinary: over the network, to memory that only its owner reaches, large, recorded
//! with more than their number, or refused.
#![allow(unsafe_code)]

use super::entry::is_value;
use super::{get, put, with_slot};
use crate::event::{Counted, Slot};
use crate::fail::{refuse, unrestricted};
use crate::types::{EVENT_INVALID, EventHandle, Flags, Rank, Tm, category};
use crate::{nbi, op, place, record};
use pellucid_core::transport::COPIED;
use std::ffi::{c_int, c_void};

/// Waits for a transfer to or from memory of a PE (PE, address).
fn blocking(
    routine: &'static str,
    peer: (i32, usize),
    transfer: impl FnOnce(&mut dyn FnMut() -> &'static Counted) -> bool,
) {
    if let Some(slot) = with_slot(transfer) {
        slot.finish(routine, peer);
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
            0 if may_group => refuse(routine, "lc_opt is NULL: expected GEX_EVENT_NOW, _DEFER or _GROUP"),
            0 => refuse(routine, "lc_opt is NULL: expected GEX_EVENT_NOW, _DEFER or a place for an event"),
            3 => refuse(routine, "lc_opt = GEX_EVENT_GROUP is for NBI operations"),
            _ if may_group => refuse(routine, "lc_opt points to an event: NBI operations have GEX_EVENT_GROUP"),
            _ => Self::Event(lc_opt),
        }
    }
}

/// `gex_RMA_PutBlocking`
#[inline(never)]
pub(super) unsafe extern "C" fn put_blocking(
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
        blocking(R, (pe, dest as usize), |slot| put(R, pe, dest.cast(), source.cast(), bytes, slot));
    });
    0
}

/// `gex_RMA_PutNB`
#[inline(never)]
pub(super) unsafe extern "C" fn put_nb(
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
                slot.finish(R, (pe, dest as usize));
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
#[inline(never)]
pub(super) unsafe extern "C" fn put_nbi(
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
        return unsafe { put_blocking(tm, rank, dest, source, bytes, flags) };
    }
    let pe = place::transfer_peer(R, tm, rank, flags);
    // SAFETY: the caller's.
    record::sized(op!(PUT_NBI), pe, dest as usize, bytes, || unsafe {
        put(R, pe, dest.cast(), source.cast(), bytes, || nbi::counted(category::PUT));
    });
    0
}

/// `gex_RMA_GetBlocking`
#[inline(never)]
pub(super) unsafe extern "C" fn get_blocking(
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
        blocking(R, (pe, source as usize), |slot| get(R, pe, dest.cast(), source.cast(), bytes, slot));
    });
    0
}

/// `gex_RMA_GetNB`
#[inline(never)]
pub(super) unsafe extern "C" fn get_nb(
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
#[inline(never)]
pub(super) unsafe extern "C" fn get_nbi(
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
    if !is_value(bytes) {
        refuse(routine, format!("nbytes = {bytes}: a value has 1 to 8"))
    }
}

/// `gex_RMA_GetBlockingVal`
#[inline(never)]
pub(super) extern "C" fn get_blocking_val(
    tm: Tm,
    rank: Rank,
    source: *mut c_void,
    bytes: usize,
    flags: Flags,
) -> usize {
    const R: &str = "gex_RMA_GetBlockingVal";
    unrestricted(R);
    check_value(R, bytes);
    let pe = place::transfer_peer(R, tm, rank, flags);
    let mut value = [0u8; 8];
    // SAFETY: the value lives here until the get is complete.
    record::sized(op!(GET_VAL), pe, source as usize, bytes, || unsafe {
        blocking(R, (pe, source as usize), |slot| get(R, pe, value.as_mut_ptr(), source.cast(), bytes, slot));
    });
    usize::from_le_bytes(value)
}

/// `gex_RMA_PutBlockingVal`
#[inline(never)]
pub(super) extern "C" fn put_blocking_val(
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
        blocking(R, (pe, dest as usize), |slot| put(R, pe, dest.cast(), value.as_ptr(), bytes, slot));
    });
    0
}

/// `gex_RMA_PutNBVal`
#[inline(never)]
pub(super) extern "C" fn put_nb_val(
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
#[inline(never)]
pub(super) extern "C" fn put_nbi_val(
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

//! The functions of the API. What they do themselves is most of what programs do; the rest is `otherwise.rs`.
#![allow(unsafe_code)]

use super::{Remote, Way, at_once, otherwise};
use crate::op;
use crate::types::{EVENT_INVALID, EventHandle, Flags, Rank, Tm};
use std::ffi::{c_int, c_void};

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
    let remote = Remote { tm, rank, addr: dest.cast(), bytes, flags };
    // SAFETY: the caller's.
    unsafe {
        if at_once(op!(PUT_BLOCKING), Way::Put, remote, source.cast_mut().cast()) {
            return 0;
        }
        otherwise::put_blocking(tm, rank, dest, source, bytes, flags)
    }
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
    let remote = Remote { tm, rank, addr: dest.cast(), bytes, flags };
    let is_valid = !matches!(lc_opt as usize, 0 | 3);
    // SAFETY: the caller's.
    unsafe {
        if !is_valid || !at_once(op!(PUT_NB), Way::Put, remote, source.cast_mut().cast()) {
            return otherwise::put_nb(tm, rank, dest, source, bytes, lc_opt, flags);
        }
        if lc_opt as usize > 3 {
            lc_opt.write(EVENT_INVALID);
        }
    }
    EVENT_INVALID
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
    let remote = Remote { tm, rank, addr: dest.cast(), bytes, flags };
    let is_valid = matches!(lc_opt as usize, 1..=3);
    // SAFETY: the caller's.
    unsafe {
        if is_valid && at_once(op!(PUT_NBI), Way::Put, remote, source.cast_mut().cast()) {
            return 0;
        }
        otherwise::put_nbi(tm, rank, dest, source, bytes, lc_opt, flags)
    }
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
    let remote = Remote { tm, rank, addr: source.cast(), bytes, flags };
    // SAFETY: the caller's.
    unsafe {
        if at_once(op!(GET_BLOCKING), Way::Get, remote, dest.cast()) {
            return 0;
        }
        otherwise::get_blocking(tm, dest, rank, source, bytes, flags)
    }
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
    let remote = Remote { tm, rank, addr: source.cast(), bytes, flags };
    // SAFETY: the caller's.
    unsafe {
        if at_once(op!(GET_NB), Way::Get, remote, dest.cast()) {
            return EVENT_INVALID;
        }
        otherwise::get_nb(tm, dest, rank, source, bytes, flags)
    }
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
    let remote = Remote { tm, rank, addr: source.cast(), bytes, flags };
    // SAFETY: the caller's.
    unsafe {
        if at_once(op!(GET_NBI), Way::Get, remote, dest.cast()) {
            return 0;
        }
        otherwise::get_nbi(tm, dest, rank, source, bytes, flags)
    }
}

/// `gex_RMA_GetBlockingVal`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_GetBlockingVal(
    tm: Tm,
    rank: Rank,
    source: *mut c_void,
    bytes: usize,
    flags: Flags,
) -> usize {
    let remote = Remote { tm, rank, addr: source.cast(), bytes, flags };
    let mut value = 0_usize;
    // SAFETY: a value has room for its bytes.
    let is_done = is_value(bytes) && unsafe { at_once(op!(GET_VAL), Way::Get, remote, (&raw mut value).cast()) };
    if is_done { usize::from_le(value) } else { otherwise::get_blocking_val(tm, rank, source, bytes, flags) }
}

/// Whether a value has as many bytes.
#[inline(always)]
pub(super) fn is_value(bytes: usize) -> bool {
    (1..=8).contains(&bytes)
}

/// Puts a value at once, or not at all.
#[inline(always)]
fn put_value(recorded: impl pellucid_profile::op::Operation, remote: Remote, value: usize) -> bool {
    let mut value = value.to_le();
    // SAFETY: a value has as many bytes.
    is_value(remote.bytes) && unsafe { at_once(recorded, Way::Put, remote, (&raw mut value).cast()) }
}

/// `gex_RMA_PutBlockingVal`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_PutBlockingVal(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    value: usize,
    bytes: usize,
    flags: Flags,
) -> c_int {
    let remote = Remote { tm, rank, addr: dest.cast(), bytes, flags };
    if put_value(op!(PUT_VAL_BLOCKING), remote, value) {
        return 0;
    }
    otherwise::put_blocking_val(tm, rank, dest, value, bytes, flags)
}

/// `gex_RMA_PutNBVal`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_PutNBVal(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    value: usize,
    bytes: usize,
    flags: Flags,
) -> EventHandle {
    let remote = Remote { tm, rank, addr: dest.cast(), bytes, flags };
    if put_value(op!(PUT_VAL_NB), remote, value) {
        return EVENT_INVALID;
    }
    otherwise::put_nb_val(tm, rank, dest, value, bytes, flags)
}

/// `gex_RMA_PutNBIVal`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_RMA_PutNBIVal(
    tm: Tm,
    rank: Rank,
    dest: *mut c_void,
    value: usize,
    bytes: usize,
    flags: Flags,
) -> c_int {
    let remote = Remote { tm, rank, addr: dest.cast(), bytes, flags };
    if put_value(op!(PUT_VAL_NBI), remote, value) {
        return 0;
    }
    otherwise::put_nbi_val(tm, rank, dest, value, bytes, flags)
}

//! Requests.
#![allow(unsafe_code)]

use super::handler::{LONG_HEAD, long_head};
use super::{limits, number};
use crate::fail::{need, refuse, unrestricted};
use crate::types::{EVENT_INVALID, EventHandle, Flags, Rank, Tm, flag};
use crate::{emulated, place, progress};
use pellucid_core::runtime;
use std::ffi::{c_int, c_uint, c_void};

/// The arguments of a message.
///
/// # Safety
/// As many as `n` says, which is at most 16; the headers see to it.
#[inline(always)]
pub(super) unsafe fn arguments<'a>(args: *const i32, n: c_uint) -> &'a [i32] {
    // SAFETY: the caller's.
    if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(args, n as usize) } }
}

/// A payload.
///
/// # Safety
/// Readable for as many bytes.
#[inline(always)]
pub(super) unsafe fn payload<'a>(source: *const c_void, bytes: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    if bytes == 0 { &[] } else { unsafe { std::slice::from_raw_parts(source.cast(), bytes) } }
}

/// The source of a message may be changed at its return, so its local completion is there: tells so where the caller
/// has given a place.
///
/// # Safety
/// One of the predefined values, or where an event may be written.
#[inline(always)]
pub(super) unsafe fn complete(lc_opt: *mut EventHandle) {
    if lc_opt as usize > 3 {
        // SAFETY: the caller's.
        unsafe { lc_opt.write(EVENT_INVALID) };
    }
}

/// A request has been sent; what has come meanwhile is handled.
#[inline(always)]
fn sent(routine: &'static str, sent: bool) -> c_int {
    progress::poll(routine);
    c_int::from(!sent)
}

/// Behind `gex_AM_RequestShort`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_request_short(
    tm: Tm,
    rank: Rank,
    handler: u8,
    flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_RequestShort";
    unrestricted(R);
    let pe = place::am_peer(R, tm, rank);
    // SAFETY: the header's.
    let args = unsafe { arguments(args, n) };
    if flags & flag::IMMEDIATE != 0 {
        return c_int::from(!need(R, runtime::messages().try_request(pe, handler.into(), args, None)));
    }
    need(R, runtime::messages().request_short(pe, handler.into(), args));
    sent(R, true)
}

/// Behind `gex_AM_RequestMedium`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_request_medium(
    tm: Tm,
    rank: Rank,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    lc_opt: *mut EventHandle,
    flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_RequestMedium";
    unrestricted(R);
    let pe = place::am_peer(R, tm, rank);
    // SAFETY: the header's arguments, the caller's payload.
    let (args, data) = unsafe { (arguments(args, n), payload(source, bytes)) };
    if flags & flag::IMMEDIATE != 0 {
        let done = need(R, runtime::messages().try_request(pe, handler.into(), args, Some(data)));
        if done {
            // SAFETY: the caller's.
            unsafe { complete(lc_opt) };
        }
        return c_int::from(!done);
    }
    need(R, runtime::messages().request_medium(pe, handler.into(), args, data));
    // SAFETY: the caller's.
    unsafe { complete(lc_opt) };
    sent(R, true)
}

/// Behind `gex_AM_RequestLong`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_request_long(
    tm: Tm,
    rank: Rank,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    dest: *mut c_void,
    lc_opt: *mut EventHandle,
    _flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_RequestLong";
    unrestricted(R);
    let pe = place::am_peer(R, tm, rank);
    if bytes > limits::LONG {
        refuse(R, format!("a payload of {bytes} bytes: at most {} are possible in a long message", limits::LONG))
    }
    // SAFETY: the header's arguments, the caller's payload.
    let (args, data) = unsafe { (arguments(args, n), payload(source, bytes)) };
    match place::in_heap(pe, dest as usize, bytes).filter(|_| bytes > 0) {
        Some(to) => need(R, runtime::messages().request_long(handler.into(), args, data, to)),
        None => request_long_at(R, pe, handler, args, data, dest as usize),
    }
    // SAFETY: the caller's.
    unsafe { complete(lc_opt) };
    sent(R, true)
}

/// A long request whose target is memory of its receiver's own, or empty: the data goes first where it does not fit.
fn request_long_at(routine: &'static str, pe: i32, handler: u8, args: &[i32], data: &[u8], dest: usize) {
    let mut message = long_head(handler, dest, data.len()).to_vec();
    if data.len() + LONG_HEAD <= limits::medium(routine, pe) {
        message.extend(data);
    } else {
        emulated::put_blocking(routine, pe, dest, data);
    }
    need(routine, runtime::messages().request_medium(pe, number::LONG_AT, args, &message));
}

//! Requests.
#![allow(unsafe_code)]

use super::handler::{LONG_HEAD, long_head};
use super::{limits, number};
use crate::fail::{need, refuse, unrestricted};
use crate::types::{EVENT_INVALID, EventHandle, Flags, Rank, Tm, flag};
use crate::{asked, emulated, op, place, progress, record};
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

/// Refuses what no message takes as its local completion, and flags that are for queries of limits.
#[inline(always)]
pub(super) fn check(routine: &'static str, lc_opt: *mut EventHandle, flags: Flags, may_group: bool) {
    let is_good = matches!(lc_opt as usize, 1 | 4..) || (may_group && lc_opt as usize == 3);
    if !is_good || flags & (flag::AM_PREPARE_LEAST_CLIENT | flag::AM_PREPARE_LEAST_ALLOC) != 0 {
        bad_options(routine, lc_opt as usize, flags)
    }
}

#[cold]
fn bad_options(routine: &'static str, lc_opt: usize, flags: Flags) -> ! {
    let given = ["NULL", "GEX_EVENT_NOW", "GEX_EVENT_DEFER", "GEX_EVENT_GROUP"].get(lc_opt).copied();
    match given.filter(|_| lc_opt != 1) {
        Some(given) => {
            let group = if routine.contains("Request") { ", GEX_EVENT_GROUP" } else { "" };
            refuse(routine, format!("lc_opt is {given}: messages take GEX_EVENT_NOW{group} or a place for an event"))
        }
        None => refuse(routine, format!("flags = {flags:#x}: GEX_FLAG_AM_PREPARE_LEAST_ is for queries of limits")),
    }
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
fn sent(routine: &'static str) -> c_int {
    progress::poll(routine);
    0
}

/// Sends a request where its peer has room for it; whether it has. Each attempt is recorded, and as a message only what
/// was sent.
fn attempt(routine: &'static str, pe: i32, handler: u8, args: &[i32], data: Option<&[u8]>) -> bool {
    let send = || need(routine, runtime::messages().try_request(pe, handler.into(), args, data));
    record::sampled(op!(REQUEST_TRIES), pe, 0, 0, send)
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
    asked::note(pe, handler);
    if flags & flag::IMMEDIATE != 0 {
        let is_sent = attempt(R, pe, handler, args, None);
        if is_sent {
            record::sampled(op!(REQUEST_SHORT), pe, 0, 0, || ());
        }
        return c_int::from(!is_sent);
    }
    record::sampled(op!(REQUEST_SHORT), pe, 0, 0, || {
        need(R, runtime::messages().request_short(pe, handler.into(), args));
        sent(R)
    })
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
    check(R, lc_opt, flags, true);
    // SAFETY: the caller's.
    unsafe { medium(R, tm, rank, handler, source, bytes, lc_opt, flags, n, args) }
}

/// Sends a medium request on behalf of a routine that has checked its options.
///
/// # Safety
/// As [`arguments`] and [`payload`]; `lc_opt` is as [`complete`] has it.
#[inline(always)]
pub(super) unsafe fn medium(
    routine: &'static str,
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
    let pe = place::am_peer(routine, tm, rank);
    // SAFETY: the header's arguments, the caller's payload.
    let (args, data) = unsafe { (arguments(args, n), payload(source, bytes)) };
    asked::note(pe, handler);
    if flags & flag::IMMEDIATE != 0 {
        let is_sent = attempt(routine, pe, handler, args, Some(data));
        if is_sent {
            // SAFETY: the caller's.
            record::sized(op!(REQUEST_MEDIUM), pe, 0, bytes, || unsafe { complete(lc_opt) });
        }
        return c_int::from(!is_sent);
    }
    record::sized(op!(REQUEST_MEDIUM), pe, 0, bytes, || {
        need(routine, runtime::messages().request_medium(pe, handler.into(), args, data));
        // SAFETY: the caller's.
        unsafe { complete(lc_opt) };
        sent(routine)
    })
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
    flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_RequestLong";
    unrestricted(R);
    check(R, lc_opt, flags, true);
    // SAFETY: the caller's.
    unsafe { long(R, tm, rank, handler, source, bytes, dest, lc_opt, n, args) }
}

/// Sends a long request on behalf of a routine that has checked its options.
///
/// # Safety
/// As [`arguments`] and [`payload`]; `lc_opt` is as [`complete`] has it.
#[inline(always)]
pub(super) unsafe fn long(
    routine: &'static str,
    tm: Tm,
    rank: Rank,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    dest: *mut c_void,
    lc_opt: *mut EventHandle,
    n: c_uint,
    args: *const i32,
) -> c_int {
    let pe = place::am_peer(routine, tm, rank);
    if bytes > limits::LONG {
        refuse(routine, format!("a payload of {bytes} bytes: at most {} are possible in a long message", limits::LONG))
    }
    // SAFETY: the header's arguments, the caller's payload.
    let (args, data) = unsafe { (arguments(args, n), payload(source, bytes)) };
    asked::note(pe, handler);
    record::sized(op!(REQUEST_LONG), pe, dest as usize, bytes, || {
        match place::in_heap(pe, dest as usize, bytes).filter(|_| bytes > 0) {
            Some(to) => need(routine, runtime::messages().request_long(handler.into(), args, data, to)),
            None => request_long_at(routine, pe, handler, args, data, dest as usize),
        }
        // SAFETY: the caller's.
        unsafe { complete(lc_opt) };
        sent(routine)
    })
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

//! Replies, which only the handler of a request sends.
#![allow(unsafe_code)]

use super::handler::{LONG_HEAD, long_head};
use super::request::{arguments, check, complete, payload};
use super::token::Token;
use super::{limits, number};
use crate::fail::{need, refuse};
use crate::types::{EventHandle, Flags};
use crate::{op, place, record};
use pellucid_core::am::Message;
use std::ffi::{c_int, c_uint, c_void};

/// Behind `gex_AM_ReplyShort`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_reply_short(
    token: *mut Token,
    handler: u8,
    _flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_ReplyShort";
    let message = Token::request(R, token);
    // SAFETY: the header's.
    let args = unsafe { arguments(args, n) };
    record::sampled(op!(REPLY_SHORT), message.source(), 0, 0, || need(R, message.reply_short(handler.into(), args)));
    0
}

/// Behind `gex_AM_ReplyMedium`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_reply_medium(
    token: *mut Token,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    lc_opt: *mut EventHandle,
    flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_ReplyMedium";
    let message = Token::request(R, token);
    check(R, lc_opt, flags, false);
    // SAFETY: the caller's.
    unsafe { medium(R, message, handler, source, bytes, lc_opt, n, args) }
}

/// Replies with a medium message on behalf of a routine that has checked its options.
///
/// # Safety
/// As [`arguments`] and [`payload`]; `lc_opt` is as [`complete`] has it.
#[inline(always)]
pub(super) unsafe fn medium(
    routine: &'static str,
    message: &mut Message<'_>,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    lc_opt: *mut EventHandle,
    n: c_uint,
    args: *const i32,
) -> c_int {
    // SAFETY: the header's arguments, the caller's payload.
    let (args, data) = unsafe { (arguments(args, n), payload(source, bytes)) };
    record::sized(op!(REPLY_MEDIUM), message.source(), 0, bytes, || {
        need(routine, message.reply_medium(handler.into(), args, data));
    });
    // SAFETY: the caller's event.
    unsafe { complete(lc_opt) };
    0
}

/// Behind `gex_AM_ReplyLong`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_reply_long(
    token: *mut Token,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    dest: *mut c_void,
    lc_opt: *mut EventHandle,
    flags: Flags,
    n: c_uint,
    args: *const i32,
) -> c_int {
    const R: &str = "gex_AM_ReplyLong";
    let message = Token::request(R, token);
    check(R, lc_opt, flags, false);
    // SAFETY: the caller's.
    unsafe { long(R, message, handler, source, bytes, dest, lc_opt, n, args) }
}

/// Replies with a long message on behalf of a routine that has checked its options.
///
/// # Safety
/// As [`arguments`] and [`payload`]; `lc_opt` is as [`complete`] has it.
#[inline(always)]
pub(super) unsafe fn long(
    routine: &'static str,
    message: &mut Message<'_>,
    handler: u8,
    source: *const c_void,
    bytes: usize,
    dest: *mut c_void,
    lc_opt: *mut EventHandle,
    n: c_uint,
    args: *const i32,
) -> c_int {
    let pe = message.source();
    if bytes > limits::LONG {
        refuse(routine, format!("a payload of {bytes} bytes: at most {} are possible in a long message", limits::LONG))
    }
    // SAFETY: the header's arguments, the caller's payload.
    let (args, data) = unsafe { (arguments(args, n), payload(source, bytes)) };
    record::sized(op!(REPLY_LONG), pe, dest as usize, bytes, || {
        match place::in_heap(pe, dest as usize, bytes).filter(|_| bytes > 0) {
            Some(to) => need(routine, message.reply_long(handler.into(), args, data, to)),
            None => reply_long_at(routine, message, handler, args, data, dest as usize),
        }
    });
    // SAFETY: the caller's.
    unsafe { complete(lc_opt) };
    0
}

/// A long reply whose target is memory of its receiver's own, or empty: the message carries the data.
fn reply_long_at(
    routine: &'static str,
    message: &mut Message<'_>,
    handler: u8,
    args: &[i32],
    data: &[u8],
    dest: usize,
) {
    let (bytes, room) = (data.len(), limits::medium(routine, message.source()) - LONG_HEAD);
    if bytes > room {
        refuse(
            routine,
            format!(
                "a payload of {bytes} bytes to memory outside of the attached segment: at most {room} are possible"
            ),
        )
    }
    let mut carried = long_head(handler, dest, bytes).to_vec();
    carried.extend(data);
    need(routine, message.reply_medium(number::LONG_AT, args, &carried));
}

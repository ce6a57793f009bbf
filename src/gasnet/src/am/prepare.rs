//! Messages whose payload is negotiated: Prepare gives a buffer and its size, Commit sends it.
#![allow(unsafe_code)]

use super::token::Token;
use super::{limits, reply, request};
use crate::fail::{refuse, unrestricted};
use crate::place;
use crate::thread;
use crate::types::{EventHandle, Flags, Rank, Tm, flag};
use pellucid_core::am::MAX_ARGS;
use std::ffi::{c_uint, c_void};
use std::ptr;

/// A message between Prepare and Commit.
#[derive(Debug)]
pub struct Prepared {
    target: Target,
    is_long: bool,
    buffer: *mut c_void,
    size: usize,
    dest: *mut c_void,
    lc_opt: *mut EventHandle,
    flags: Flags,
    arguments: c_uint,
    /// The buffer, where it is the library's.
    _own: Vec<u128>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Request(Tm, Rank),
    Reply(*mut Token),
}

/// Meant for queries of limits; Prepare takes no notice.
const LEAST: Flags = flag::AM_PREPARE_LEAST_CLIENT | flag::AM_PREPARE_LEAST_ALLOC;

/// What the client asks for.
struct Wish {
    routine: &'static str,
    client: *const c_void,
    least: usize,
    most: usize,
    dest: *mut c_void,
    lc_opt: *mut EventHandle,
    flags: Flags,
    arguments: c_uint,
}

/// Refuses what Commit could not send, while it is still known who has asked for it.
fn check(wish: &Wish, target: Target) {
    let Wish { routine, client, lc_opt, flags, arguments, .. } = *wish;
    if !client.is_null() {
        request::check(routine, lc_opt, flags & !LEAST, matches!(target, Target::Request(..)));
    } else if !lc_opt.is_null() {
        refuse(routine, "lc_opt has to be NULL where client_buf is")
    }
    if arguments as usize > MAX_ARGS {
        refuse(routine, format!("numargs = {arguments}: at most {MAX_ARGS} are possible (gex_AM_MaxArgs)"))
    }
}

fn prepare(wish: Wish, target: Target, is_long: bool, medium: usize) -> *mut Prepared {
    let Wish { routine, client, least, most, dest, lc_opt, flags, arguments } = wish;
    if !thread::get().prepared.is_null() {
        refuse(
            routine,
            "a message is prepared already in this thread: Prepare and Commit come in pairs, which do not nest",
        )
    }
    check(&wish, target);
    let limit = match (is_long, client.is_null()) {
        (false, _) => medium,
        (true, true) => limits::long_alloc(medium),
        (true, false) => limits::LONG,
    };
    if least > limit || least > most {
        refuse(
            routine,
            format!("least_payload = {least} and most_payload = {most}: at least 0 and at most {limit} is possible"),
        )
    }
    let size = most.min(limit);
    let mut own = Vec::<u128>::new();
    let buffer = if client.is_null() {
        own.reserve_exact(size.div_ceil(16).max(1));
        own.as_mut_ptr().cast()
    } else {
        client.cast_mut()
    };
    let lc_opt = if client.is_null() { ptr::without_provenance_mut(1) } else { lc_opt };
    let prepared = Prepared {
        target,
        is_long,
        buffer,
        size,
        dest,
        lc_opt,
        flags: flags & !(flag::IMMEDIATE | LEAST),
        arguments,
        _own: own,
    };
    let prepared = Box::into_raw(Box::new(prepared));
    let thread = thread::get();
    thread.prepared = prepared;
    thread.restricted += 1;
    prepared
}

fn prepare_request(wish: Wish, tm: Tm, rank: Rank, is_long: bool) -> *mut Prepared {
    if thread::get().prepared.is_null() {
        unrestricted(wish.routine);
    }
    let pe = place::am_peer(wish.routine, tm, rank);
    let medium = limits::medium(wish.routine, pe);
    prepare(wish, Target::Request(tm, rank), is_long, medium)
}

fn prepare_reply(wish: Wish, token: *mut Token, is_long: bool) -> *mut Prepared {
    let pe = Token::request(wish.routine, token).source();
    let medium = limits::medium(wish.routine, pe);
    prepare(wish, Target::Reply(token), is_long, medium)
}

macro_rules! prepares {
    ($($name:ident, $way:ident, ($($target:ident: $type:ty),*), $is_long:literal $(, $dest:ident)?;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            $($target: $type,)*
            client: *const c_void,
            least: usize,
            most: usize,
            $($dest: *mut c_void,)?
            lc_opt: *mut EventHandle,
            flags: Flags,
            arguments: c_uint,
        ) -> *mut Prepared {
            let dest = [$($dest,)? ptr::null_mut()][0];
            let wish = Wish { routine: stringify!($name), client, least, most, dest, lc_opt, flags, arguments };
            $way(wish, $($target,)* $is_long)
        }
    )* };
}

prepares! {
    gex_AM_PrepareRequestMedium, prepare_request, (tm: Tm, rank: Rank), false;
    gex_AM_PrepareRequestLong, prepare_request, (tm: Tm, rank: Rank), true, to;
    gex_AM_PrepareReplyMedium, prepare_reply, (token: *mut Token), false;
    gex_AM_PrepareReplyLong, prepare_reply, (token: *mut Token), true, to;
}

/// `gex_AM_SrcDescAddr`
#[unsafe(no_mangle)]
pub extern "C" fn gex_AM_SrcDescAddr(sd: *const Prepared) -> *mut c_void {
    open("gex_AM_SrcDescAddr", sd).buffer
}

/// What the last Prepare of this thread gave.
fn open(routine: &'static str, sd: *const Prepared) -> &'static Prepared {
    let prepared = thread::get().prepared;
    if sd.is_null() || !ptr::eq(sd, prepared) {
        refuse(routine, "the descriptor is not what the last Prepare of this thread gave")
    }
    // SAFETY: made by `prepare`, and not taken yet.
    unsafe { &*prepared }
}

/// `gex_AM_SrcDescSize`
#[unsafe(no_mangle)]
pub extern "C" fn gex_AM_SrcDescSize(sd: *const Prepared) -> usize {
    open("gex_AM_SrcDescSize", sd).size
}

/// Ends the preparation that a Commit names, after its checks.
fn take(
    routine: &'static str,
    sd: *mut Prepared,
    bytes: usize,
    n: c_uint,
    is_request: bool,
    is_long: bool,
) -> Box<Prepared> {
    let thread = thread::get();
    if sd.is_null() || sd != thread.prepared {
        refuse(routine, "the descriptor is not what the last Prepare of this thread gave")
    }
    // SAFETY: made by `prepare`, and taken once, since the thread's note goes.
    let prepared = unsafe { Box::from_raw(sd) };
    thread.prepared = ptr::null_mut();
    thread.restricted -= 1;
    let names_request = matches!(prepared.target, Target::Request(..));
    if names_request != is_request || prepared.is_long != is_long {
        refuse(routine, "the message was prepared as one of another kind")
    }
    if bytes > prepared.size {
        refuse(routine, format!("nbytes = {bytes}: {} were prepared", prepared.size))
    }
    if n != prepared.arguments {
        refuse(routine, format!("{n} arguments: {} were prepared", prepared.arguments))
    }
    prepared
}

fn destination(routine: &'static str, prepared: &Prepared, dest: *mut c_void) -> *mut c_void {
    if !prepared.dest.is_null() && prepared.dest != dest {
        refuse(routine, format!("dest_addr = {dest:p}: the message was prepared for {:p}", prepared.dest))
    }
    dest
}

/// Behind `gex_AM_CommitRequestMedium`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_commit_request_medium(
    sd: *mut Prepared,
    handler: u8,
    bytes: usize,
    n: c_uint,
    args: *const i32,
) {
    const R: &str = "gex_AM_CommitRequestMedium";
    let p = take(R, sd, bytes, n, true, false);
    unrestricted(R);
    let Target::Request(tm, rank) = p.target else { return };
    // SAFETY: the client has filled the buffer; the header's arguments.
    unsafe { request::medium(R, tm, rank, handler, p.buffer, bytes, p.lc_opt, p.flags, n, args) };
}

/// Behind `gex_AM_CommitRequestLong`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_commit_request_long(
    sd: *mut Prepared,
    handler: u8,
    bytes: usize,
    dest: *mut c_void,
    n: c_uint,
    args: *const i32,
) {
    const R: &str = "gex_AM_CommitRequestLong";
    let p = take(R, sd, bytes, n, true, true);
    unrestricted(R);
    let Target::Request(tm, rank) = p.target else { return };
    let dest = destination(R, &p, dest);
    // SAFETY: as above.
    unsafe { request::long(R, tm, rank, handler, p.buffer, bytes, dest, p.lc_opt, n, args) };
}

/// Behind `gex_AM_CommitReplyMedium`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_commit_reply_medium(
    sd: *mut Prepared,
    handler: u8,
    bytes: usize,
    n: c_uint,
    args: *const i32,
) {
    const R: &str = "gex_AM_CommitReplyMedium";
    let p = take(R, sd, bytes, n, false, false);
    let Target::Reply(token) = p.target else { return };
    let message = Token::request(R, token);
    // SAFETY: as above.
    unsafe { reply::medium(R, message, handler, p.buffer, bytes, p.lc_opt, n, args) };
}

/// Behind `gex_AM_CommitReplyLong`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pellucid_gex_commit_reply_long(
    sd: *mut Prepared,
    handler: u8,
    bytes: usize,
    dest: *mut c_void,
    n: c_uint,
    args: *const i32,
) {
    const R: &str = "gex_AM_CommitReplyLong";
    let p = take(R, sd, bytes, n, false, true);
    let Target::Reply(token) = p.target else { return };
    let dest = destination(R, &p, dest);
    let message = Token::request(R, token);
    // SAFETY: as above.
    unsafe { reply::long(R, message, handler, p.buffer, bytes, dest, p.lc_opt, n, args) };
}

//! Handlers of clients: the table of them, and how one is called.
#![allow(unsafe_code)]

use super::number;
use super::token::Token;
use crate::endpoint::Endpoint;
use crate::fail::{need, refuse};
use crate::types::{AM_BASE, AmEntry, code, flag};
use crate::{asked, record, system, thread};
use pellucid_core::am::{Handler, MAX_ARGS, Message, MessageKind};
use pellucid_core::runtime;
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// A registered handler, never given back.
#[derive(Debug)]
pub struct Entry {
    /// As it was registered, with its number.
    pub gex: AmEntry,
    /// Its name; empty: none.
    pub name: &'static str,
}

static ENTRIES: [AtomicPtr<Entry>; 256] = [const { AtomicPtr::new(ptr::null_mut()) }; 256];
static REGISTERING: Mutex<()> = Mutex::new(());

fn entry(index: u8) -> Option<&'static Entry> {
    // SAFETY: null or a leaked entry.
    unsafe { ENTRIES[usize::from(index)].load(Ordering::Acquire).as_ref() }
}

/// `gex_EP_RegisterHandlers`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_EP_RegisterHandlers(ep: *const Endpoint, table: *mut AmEntry, count: usize) -> c_int {
    const R: &str = "gex_EP_RegisterHandlers";
    crate::fail::unrestricted(R);
    // SAFETY: a live endpoint or null, and a table of as many entries, says the caller.
    let (ep, table) =
        unsafe { (ep.as_ref(), if count == 0 { &mut [] } else { std::slice::from_raw_parts_mut(table, count) }) };
    match ep {
        Some(ep) if ep.index == 0 => register(R, table),
        _ => system::error(R, code::BAD_ARG, "only the primordial endpoint has active messages"),
    }
}

/// Registers handlers: those with a number, then the others, from the highest free number down.
pub fn register(routine: &str, table: &mut [AmEntry]) -> c_int {
    let _one = REGISTERING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut seen = [false; 256];
    for given in table.iter().filter(|given| given.index != 0) {
        if let Err(why) = check(given) {
            return system::error(routine, code::BAD_ARG, &why);
        }
        if std::mem::replace(&mut seen[usize::from(given.index)], true) {
            return system::error(routine, code::BAD_ARG, &format!("handler {} is in the table twice", given.index));
        }
    }
    table.iter().filter(|given| given.index != 0).for_each(|given| enter(*given));
    for given in table.iter_mut().filter(|given| given.index == 0) {
        let Some(free) = (AM_BASE..=255).rev().find(|index| entry(*index).is_none()) else {
            return system::error(routine, code::RESOURCE, "no number is free for a further handler");
        };
        given.index = free;
        if let Err(why) = check(given) {
            given.index = 0;
            return system::error(routine, code::BAD_ARG, &why);
        }
        enter(*given);
    }
    code::OK
}

fn check(given: &AmEntry) -> Result<(), String> {
    let index = given.index;
    let (kinds, ways) = (given.flags & 7, given.flags & (flag::AM_REQUEST | flag::AM_REPLY));
    if index < AM_BASE {
        return Err(format!("handler {index}: numbers of clients are {AM_BASE} to 255"));
    }
    if entry(index).is_some() {
        return Err(format!("handler {index} is registered already"));
    }
    if given.function.is_null() {
        return Err(format!("handler {index}: its function is null"));
    }
    if kinds == 0 || ways == 0 || (kinds & flag::AM_SHORT != 0 && kinds != flag::AM_SHORT && kinds != 7) {
        return Err(format!(
            "handler {index}: flags {:#x} name no category of message, or neither request nor reply",
            given.flags
        ));
    }
    let any = given.nargs == ANY_ARGS;
    if given.nargs as usize > MAX_ARGS && !any {
        return Err(format!("handler {index}: {} arguments: at most {MAX_ARGS} are possible", given.nargs));
    }
    Ok(())
}

/// Arguments of handlers that are registered by the GASNet-1 interface, which does not say.
pub const ANY_ARGS: u32 = u32::MAX;

fn enter(gex: AmEntry) {
    // SAFETY: a string of C or null, says the client.
    let name = (!gex.name.is_null()).then(|| unsafe { CStr::from_ptr(gex.name) }.to_string_lossy().into_owned());
    let name: &'static str = name.unwrap_or_default().leak();
    let entry = Box::leak(Box::new(Entry { gex, name }));
    ENTRIES[usize::from(gex.index)].store(entry, Ordering::Release);
    let handler = Handler { name, run: arrive, context: ptr::from_ref(entry) as usize };
    need("gex_EP_RegisterHandlers", runtime::register_handler(gex.index.into(), handler));
}

/// A message to a client's handler has come.
fn arrive(message: &mut Message<'_>, context: usize) {
    // SAFETY: an entry that `enter` has leaked.
    let entry = unsafe { &*(context as *const Entry) };
    let (kind, bytes) = (message.kind(), message.payload().len());
    // Where there is nothing the address is as aligned as where there is.
    let data = message.payload_address().map_addr(|at| if bytes == 0 { at.next_multiple_of(16) } else { at });
    run(entry, message, kind, data.cast(), bytes);
}

/// Runs a handler.
fn run(entry: &Entry, message: &mut Message<'_>, kind: MessageKind, data: *mut c_void, bytes: usize) {
    let way = if message.is_request() { flag::AM_REQUEST } else { flag::AM_REPLY };
    let category = 1 << kind as u32;
    let args = message.args();
    let fits = entry.gex.nargs == ANY_ARGS || entry.gex.nargs as usize == args.len();
    let mut token = Token::new(message, entry, kind);
    if !fits || entry.gex.flags & category == 0 || entry.gex.flags & way == 0 {
        mismatch(&token, kind, args.len())
    }
    if !token.is_request() {
        asked::answered(token.source() as i32);
    }
    let thread = thread::get();
    let before = thread.token;
    thread.token = &raw mut token;
    thread.restricted += 1;
    record::handler(entry.gex.index, token.source() as i32, bytes, || {
        // SAFETY: the client vouches for the function's type, by its flags and number of arguments.
        unsafe { call(entry.gex.function, thread.token, kind, data, bytes, args) }
    });
    let thread = thread::get();
    thread.restricted -= 1;
    if !thread.prepared.is_null() {
        refuse("handler", format!("{} returned between gex_AM_Prepare and gex_AM_Commit", token.describe()))
    }
    thread.token = before;
    if thread.locks > 0 {
        refuse(
            "handler",
            format!("{} returned without unlocking {} handler-safe lock(s)", token.describe(), thread.locks),
        )
    }
}

#[cold]
fn mismatch(token: &Token, kind: MessageKind, args: usize) -> ! {
    let (entry, way) = (token.entry(), if token.is_request() { "request" } else { "reply" });
    refuse(
        "active message",
        format!(
            "{} came as a {} {way} with {args} arguments; it is registered with flags {:#x} and {} arguments",
            token.describe(),
            ["short", "medium", "long"][kind as usize],
            entry.gex.flags,
            entry.gex.nargs
        ),
    )
}

/// Calls a function whose first parameters are given as (value: type), with as many 32-bit arguments as there are.
macro_rules! every_arity {
    ($function:expr, $args:expr, $fixed:tt) => {
        match $args.len() {
            0 => one_arity!($function, $args, $fixed,),
            1 => one_arity!($function, $args, $fixed, 0),
            2 => one_arity!($function, $args, $fixed, 0 1),
            3 => one_arity!($function, $args, $fixed, 0 1 2),
            4 => one_arity!($function, $args, $fixed, 0 1 2 3),
            5 => one_arity!($function, $args, $fixed, 0 1 2 3 4),
            6 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5),
            7 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6),
            8 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7),
            9 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8),
            10 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9),
            11 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9 10),
            12 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9 10 11),
            13 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9 10 11 12),
            14 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9 10 11 12 13),
            15 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
            16 => one_arity!($function, $args, $fixed, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15),
            _ => unreachable!("the core carries 16 arguments at most"),
        }
    };
}

/// As [`every_arity`], for one number of arguments.
macro_rules! one_arity {
    ($function:expr, $args:expr, ($($value:ident: $type:ty),*), $($i:literal)*) => {{
        let function: unsafe extern "C" fn($($type,)* $(one_arity!(@ $i)),*) = std::mem::transmute($function);
        function($($value,)* $($args[$i]),*);
    }};
    (@ $i:literal) => { i32 };
}

/// # Safety
/// The function takes what a handler of this kind with as many arguments does.
unsafe fn call(
    function: *const c_void,
    token: *mut Token,
    kind: MessageKind,
    data: *mut c_void,
    bytes: usize,
    args: &[i32],
) {
    // SAFETY: the caller's.
    unsafe {
        if kind == MessageKind::Short {
            every_arity!(function, args, (token: *mut Token));
        } else {
            every_arity!(function, args, (token: *mut Token, data: *mut c_void, bytes: usize));
        }
    }
}

/// Bytes in front of the payload of [`number::LONG_AT`]: address, bytes, the client's handler.
pub const LONG_HEAD: usize = 24;

/// What precedes the data of a long message whose target the transport does not know.
pub fn long_head(handler: u8, addr: usize, bytes: usize) -> [u8; LONG_HEAD] {
    let mut head = [0; LONG_HEAD];
    head[..8].copy_from_slice(&(addr as u64).to_ne_bytes());
    head[8..16].copy_from_slice(&(bytes as u64).to_ne_bytes());
    head[16] = handler;
    head
}

/// A long message has come whose target is memory of the client's own, or empty.
fn arrive_long(message: &mut Message<'_>, _: usize) {
    const R: &str = "active message";
    let source = message.source();
    let payload = message.payload();
    let Some((head, data)) = payload.split_first_chunk::<LONG_HEAD>() else {
        refuse(R, format!("a long message of rank {source} is damaged"))
    };
    let word = |at: usize| u64::from_ne_bytes(head[at..at + 8].try_into().expect("8 bytes")) as usize;
    let (addr, bytes, index) = (word(0), word(8), head[16]);
    let Some(entry) = entry(index) else {
        refuse(R, format!("a long message of rank {source} is for handler {index}, and none is registered here"))
    };
    if !data.is_empty() {
        if data.len() != bytes || !crate::segment::contains(addr, bytes) {
            refuse(
                R,
                format!(
                    "a long message of rank {source} names {bytes} bytes at {addr:#x}: they are in no segment here"
                ),
            )
        }
        // SAFETY: in a segment of this process, as was just checked.
        unsafe { ptr::copy(data.as_ptr(), addr as *mut u8, bytes) };
    }
    run(entry, message, MessageKind::Long, addr as *mut c_void, bytes);
}

/// Registers what the library itself needs.
pub fn register_own() {
    type Run = fn(&mut Message<'_>, usize);
    let own: [(u16, &'static str, Run); 7] = [
        (number::LONG_AT, "long message", arrive_long),
        (number::MAIL, "collective", crate::coll::mail::arrive),
        (number::PUT, "put", crate::emulated::put_arrives),
        (number::PUT_DONE, "put complete", crate::emulated::done_arrives),
        (number::GET, "get", crate::emulated::get_arrives),
        (number::GET_DATA, "data of a get", crate::emulated::data_arrives),
        (number::VIS_DONE, "VIS put complete", crate::vis::completion_arrives),
    ];
    for (number, name, run) in own {
        need("gex_Client_Init", runtime::register_handler(number, Handler { name, run, context: 0 }));
    }
}

/// Runs the handler of a VIS put's completion, which comes as a reply would.
pub fn run_completion(index: u8, message: &mut Message<'_>, data: *mut c_void, bytes: usize) {
    let Some(entry) = entry(index) else {
        refuse("gex_VIS_SetPeerCompletionHandler", format!("handler {index} is not registered at the peer"))
    };
    let mut token = Token::completion(message, entry);
    if entry.gex.flags != flag::AM_MEDIUM | flag::AM_REPLY || entry.gex.nargs != 0 {
        mismatch(&token, MessageKind::Medium, 0)
    }
    let thread = thread::get();
    let before = thread.token;
    thread.token = &raw mut token;
    thread.restricted += 1;
    record::handler(index, token.source() as i32, bytes, || {
        // SAFETY: the client registers a medium reply without arguments.
        unsafe { call(entry.gex.function, thread.token, MessageKind::Medium, data, bytes, &[]) }
    });
    let thread = thread::get();
    thread.restricted -= 1;
    thread.token = before;
}

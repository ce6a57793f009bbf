//! The client.
#![allow(unsafe_code)]

use crate::endpoint::Endpoint;
use crate::fail::refuse;
use crate::start::{self, Client, Mode};
use crate::types::{Flags, Tm, code, flag};
use pellucid_profile::op::gasnet as op;
use pellucid_profile::recorder::Stamp;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::Ordering;

unsafe fn init(
    client_p: *mut *const Client,
    ep_p: *mut *const Endpoint,
    tm_p: *mut Tm,
    name: *const c_char,
    flags: Flags,
    mode: Mode,
) -> c_int {
    const R: &str = "gex_Client_Init";
    if name.is_null() {
        refuse(R, "clientName is NULL")
    }
    // SAFETY: a string of C, says the caller.
    let name = unsafe { CStr::from_ptr(name) };
    let text = name.to_string_lossy();
    // The specification wants capitals; clients that are in use have others, too.
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.len() < 2 || !text.starts_with(|c: char| c.is_ascii_alphabetic()) || !text.chars().all(is_word) {
        refuse(R, format!("clientName = \"{text}\": expected two or more letters, digits and _, a letter first"))
    }
    let began = Stamp::now();
    let client = start::begin(R, name.to_owned(), flags, mode);
    crate::record::since(op::CLIENT_INIT, began);
    // SAFETY: places for the handles, or null.
    unsafe {
        if !client_p.is_null() {
            client_p.write(client);
        }
        if !ep_p.is_null() {
            ep_p.write(client.endpoint);
        }
        if !tm_p.is_null() {
            tm_p.write(client.team.handle());
        }
    }
    code::OK
}

macro_rules! entries {
    ($($name:ident, $mode:ident;)*) => { $(
        /// `gex_Client_Init` of a mode's library.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            client_p: *mut *const Client,
            ep_p: *mut *const Endpoint,
            tm_p: *mut Tm,
            name: *const c_char,
            _argc: *mut c_int,
            _argv: *mut *mut *mut c_char,
            flags: Flags,
        ) -> c_int {
            // SAFETY: the caller's.
            unsafe { init(client_p, ep_p, tm_p, name, flags, Mode::$mode) }
        }
    )* };
}

entries! {
    gex_Client_Init_of_the_SEQ_library, Seq;
    gex_Client_Init_of_the_PARSYNC_library, Parsync;
    gex_Client_Init_of_the_PAR_library, Par;
}

/// The client that a handle names.
fn named(routine: &'static str, client: *const Client) -> &'static Client {
    if client.is_null() || !std::ptr::eq(client, start::client()) {
        refuse(routine, format!("client = {client:p} is not the client of this process"))
    }
    start::client()
}

/// `gex_Client_QueryFlags`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Client_QueryFlags(client: *const Client) -> Flags {
    named("gex_Client_QueryFlags", client).flags
}

/// `gex_Client_QueryName`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Client_QueryName(client: *const Client) -> *const c_char {
    named("gex_Client_QueryName", client).name.as_ptr()
}

/// `gex_Client_SetCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Client_SetCData(client: *const Client, value: *const c_void) {
    named("gex_Client_SetCData", client).cdata.store(value.cast_mut(), Ordering::Release);
}

/// `gex_Client_QueryCData`
#[unsafe(no_mangle)]
pub extern "C" fn gex_Client_QueryCData(client: *const Client) -> *mut c_void {
    named("gex_Client_QueryCData", client).cdata.load(Ordering::Acquire)
}

/// A description of a progress thread, of which there are none.
#[derive(Debug)]
#[repr(C)]
pub struct ProgressThread([usize; 4]);

/// `gex_System_QueryProgressThreads`: waits move the network on, so there are none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gex_System_QueryProgressThreads(
    client: *const Client,
    count_p: *mut u32,
    info_p: *mut *const ProgressThread,
    flags: Flags,
) -> c_int {
    const R: &str = "gex_System_QueryProgressThreads";
    crate::fail::unrestricted(R);
    let client = named(R, client);
    if count_p.is_null() || info_p.is_null() || flags != 0 {
        return crate::system::error(R, code::BAD_ARG, "count_p or info_p is NULL, or flags is not 0");
    }
    if client.flags & flag::DEFER_THREADS == 0 {
        return crate::system::error(R, code::RESOURCE, "the client was made without GEX_FLAG_DEFER_THREADS");
    }
    // SAFETY: places for the answers, says the caller.
    unsafe {
        count_p.write(0);
        info_p.write(std::ptr::null());
    }
    code::OK
}

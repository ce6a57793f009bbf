//! Crashes have places in messages: the library's handlers, behind those of Rust's standard library.
//!
//! The library leaves a signal to the handler that it has already. The standard library has one for the two signals of
//! addresses that cannot be used, which reports a stack without room, and for all else has the signal end the program.
//! So both are called, that one first.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// `SIGSEGV` and `SIGBUS` of Linux.
const SIGNALS: [c_int; 2] = [11, 7];
/// `SIG_DFL`
const DEFAULT: usize = 0;
/// `SA_SIGINFO`
const WITH_INFO: c_int = 4;

/// `struct sigaction` of Linux on machines of 64 bits.
#[derive(Clone, Copy)]
#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

unsafe extern "C" {
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
}

type Handler = extern "C" fn(c_int, *mut c_void, *mut c_void);

/// Of each signal, the handler that was there, and the library's.
static HANDLERS: [OnceLock<[Handler; 2]>; 2] = [const { OnceLock::new() }; 2];

/// Runs what initializes the library, with its handlers behind those that are there.
pub(crate) fn with_handlers<R>(initialize: impl FnOnce() -> R) -> R {
    let before = SIGNALS.map(take);
    let result = initialize();
    for (at, before) in before.into_iter().enumerate() {
        if let Some(before) = before {
            put_back(at, before);
        }
    }
    result
}

/// What a signal does.
fn action(signal: c_int) -> Action {
    let mut action = Action { handler: DEFAULT, mask: [0; 16], flags: 0, restorer: 0 };
    // SAFETY: asks, into a place for the answer.
    unsafe { sigaction(signal, null(), &raw mut action) };
    action
}

fn set(signal: c_int, action: &Action) {
    // SAFETY: a valid structure, whose handler takes what its flags say.
    unsafe { sigaction(signal, action, null_mut()) };
}

/// Takes a handler away. `None`: there is none, or it is [`both`] already.
fn take(signal: c_int) -> Option<Action> {
    let before = action(signal);
    let is_handler = before.flags & WITH_INFO != 0 && before.handler != DEFAULT;
    if !is_handler || before.handler == both as *const () as usize {
        return None;
    }
    set(signal, &Action { handler: DEFAULT, flags: 0, ..before });
    Some(before)
}

/// Puts a handler back, before the one that is there now, if any.
fn put_back(at: usize, before: Action) {
    let now = action(SIGNALS[at]);
    let mut first = before;
    if now.handler != DEFAULT && now.flags & WITH_INFO != 0 {
        // SAFETY: handlers with three arguments, as the flags say.
        let handlers = [before.handler, now.handler].map(|handler| unsafe { transmute::<usize, Handler>(handler) });
        _ = HANDLERS[at].set(handlers);
        first.handler = both as *const () as usize;
    }
    set(SIGNALS[at], &first);
}

/// The handler of both. One that gives the signal its default back has nothing more to do with it.
extern "C" fn both(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let at = usize::from(signal == SIGNALS[1]);
    if let Some([before, of_library]) = HANDLERS[at].get() {
        before(signal, info, context);
        if action(signal).handler == DEFAULT {
            of_library(signal, info, context);
        }
    }
}

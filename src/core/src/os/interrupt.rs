//! Ctrl-C where the program has a handler that only takes a note of it, as Python's does: noted, and passed on to that
//! handler.
#![allow(unsafe_code)]

use super::wakeup::Wakeup;
use std::ffi::{c_int, c_void};
use std::mem::{transmute, zeroed};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is called besides.
struct Before {
    action: libc::sigaction,
    /// Whoever is to hear of it.
    wake: &'static Wakeup,
    owner: i32,
}

static BEFORE: OnceLock<Before> = OnceLock::new();
static CAME: AtomicBool = AtomicBool::new(false);

/// From now on the signal is noted, where it has a handler; once. A handler that is set up later takes the place of
/// this one.
pub fn install(wake: &'static Wakeup) {
    // SAFETY: the structures are valid, and the handler is async-signal-safe as far as the one before it is.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        let failed = libc::sigaction(libc::SIGINT, std::ptr::null(), &raw mut action);
        if failed != 0 || [libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction) {
            return;
        }
        if BEFORE.set(Before { action, wake, owner: libc::getpid() }).is_ok() {
            let mut own = action;
            own.sa_sigaction = noted as *const () as usize;
            own.sa_flags |= libc::SA_SIGINFO;
            libc::sigaction(libc::SIGINT, &raw const own, std::ptr::null_mut());
        }
    }
}

/// Whether it has come since the last look.
pub fn came() -> bool {
    CAME.swap(false, Ordering::AcqRel)
}

extern "C" fn noted(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else { return };
    // SAFETY: system calls on valid structures; the handler is one of the kind that its flags say.
    unsafe {
        if before.owner == libc::getpid() {
            let errno = *libc::__errno_location();
            CAME.store(true, Ordering::Release);
            before.wake.signal();
            *libc::__errno_location() = errno;
        }
        if before.action.sa_flags & libc::SA_SIGINFO != 0 {
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                transmute(before.action.sa_sigaction);
            handler(number, info, context);
        } else {
            let handler: extern "C" fn(c_int) = transmute(before.action.sa_sigaction);
            handler(number);
        }
    }
}

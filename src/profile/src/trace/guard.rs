//! A mapped file that loses its ground: whoever cuts it, or a disk that fails, must not end the program.
//!
//! A store behind the end of a mapped file is a bus error. Its handler puts plain memory in place of the file's, so
//! that the store succeeds; the writer notices at its next chunk, and counts as dropped what went there. Bus errors
//! elsewhere go to whoever handled them before. A program that installs a handler of its own afterwards does without
//! this.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

use crate::segment::layout::SLOTS;

/// A mapping that is looked after.
pub(super) struct Ground {
    begin: AtomicUsize,
    bytes: AtomicUsize,
    lost: AtomicBool,
}

static GROUNDS: [Ground; SLOTS + 1] =
    [const { Ground { begin: AtomicUsize::new(0), bytes: AtomicUsize::new(0), lost: AtomicBool::new(false) } };
        SLOTS + 1];
static USED: AtomicUsize = AtomicUsize::new(0);

struct Before(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written once, before the handler that reads it is installed.
unsafe impl Sync for Before {}

static BEFORE: Before = Before(UnsafeCell::new(MaybeUninit::zeroed()));

impl Ground {
    /// Whether the mapping is not the file's any more.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Relaxed)
    }
}

/// Looks after a mapping, for good. `None`: more files than there can be.
pub(super) fn register(begin: *mut u8, bytes: usize) -> Option<&'static Ground> {
    static INSTALLED: Once = Once::new();
    let ground = GROUNDS.get(USED.fetch_add(1, Relaxed))?;
    ground.bytes.store(bytes, Relaxed);
    ground.begin.store(begin.addr(), Release);
    INSTALLED.call_once(install);
    Some(ground)
}

fn install() {
    // SAFETY: all-zero is a valid action; the handler has the type that SA_SIGINFO asks for, and does only what a
    // handler may; what was there before is stored before it can be asked for, since no mapping of ours was stored to
    // yet.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(libc::SIGBUS, std::ptr::null(), (*BEFORE.0.get()).as_mut_ptr());
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a description; a positive code says that it is of an access.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code > 0 && replace(address) {
        return;
    }
    // SAFETY: filled in before this handler was installed.
    let before = unsafe { (*BEFORE.0.get()).assume_init_ref() };
    match before.sa_sigaction {
        // The access is repeated and ends the process, as does the signal when it is sent again.
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all-zero is the default action.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGBUS, &raw const default, std::ptr::null_mut());
                if code <= 0 {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag, what was installed takes three arguments.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, it takes one.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

/// Puts memory in place of the mapping with this address. False: there is none. Async-signal-safe.
fn replace(address: usize) -> bool {
    for ground in &GROUNDS {
        let (begin, bytes) = (ground.begin.load(Acquire), ground.bytes.load(Relaxed));
        if begin == 0 || !(begin..begin + bytes).contains(&address) {
            continue;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let place = std::ptr::with_exposed_provenance_mut(begin);
        // SAFETY: exactly a mapping of ours, which stays for the life of the process; its writer goes on in plain
        // memory.
        let mapped = unsafe { libc::mmap(place, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        ground.lost.store(true, Relaxed);
        return mapped != libc::MAP_FAILED;
    }
    false
}

//! `gasnet_exit`: the end of the job from wherever it is called, and where a process ends without it.
//!
//! A PE that calls it waits for the others to come to theirs, for some seconds at most, or half a second with a
//! failure. If all come, each ends as after a finalize; otherwise the job is ended as by `shmem_global_exit`. The calls
//! are counted in memory in front of the first PE's segment area. Handlers, holders of locks and signal handlers do not
//! communicate: over the network they are not counted, and end the job.
//!
//! Launchers end the other PEs by SIGTERM. A client that catches SIGQUIT, as the specification has it, gets that
//! instead.
#![allow(unsafe_code)]

use crate::place::{self, Place};
use crate::{fail, settings, start, thread};
use pellucid_core::base::{Cause, Fault};
use pellucid_core::transport::{AmoOp, Atomic, Channel, Completion};
use pellucid_core::{os, runtime};
use pellucid_profile::{op, recorder};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The first thread that exits, by the address of what is kept for it; 0: none yet.
static EXITING: AtomicUsize = AtomicUsize::new(0);
/// The word that counts.
const COUNT: usize = 0;
const LOOK: Duration = Duration::from_micros(200);

/// The count of the job's calls, where this PE can see it; adds to it.
fn count(add: u64) -> Option<u64> {
    match place::locate("gasnet_exit", 0, start::word(COUNT).cast(), 8) {
        // SAFETY: a word of the library's, in memory that every PE has.
        Place::Here(at) => Some(unsafe { &*at.cast::<AtomicU64>() }.fetch_add(add, Ordering::AcqRel) + add),
        Place::Network(transport, at) if thread::get().restricted == 0 => {
            let mut before = 0u64;
            let result = (&raw mut before).cast();
            let atomic = Atomic { op: AmoOp::Add, width: 8, operand: add, compare: 0, result };
            // SAFETY: the result lives here until it is there.
            unsafe { transport.atomic(Channel::DEFAULT, at, atomic, Completion::Local) }.ok()?;
            Some(before + add)
        }
        _ => None,
    }
}

/// How long the end of the process may take once nobody is waited for any more.
const AFTER: Duration = Duration::from_secs(1);
/// How long others are waited for by a PE whose exit is a failure: those that fail together can say so.
const GRACE: f64 = 0.5;

/// What became of the wait for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Come,
    /// Not all within the time.
    Late,
    /// They cannot be counted from here.
    Unknown,
}

/// Waits for all PEs to come.
fn wait_for_others(is_failure: bool) -> Others {
    let npes = runtime::map().npes as u64;
    let patience = if is_failure { settings::exit_timeout().min(GRACE) } else { settings::exit_timeout() };
    let deadline = Instant::now() + Duration::from_secs_f64(patience);
    let mut seen = count(1);
    loop {
        match seen {
            Some(seen) if seen >= npes => return Others::Come,
            None => return Others::Unknown,
            Some(_) if Instant::now() > deadline => return Others::Late,
            Some(_) => {}
        }
        // With a failure nobody's messages matter, and a signal handler may have interrupted the library.
        if !is_failure && thread::get().restricted == 0 {
            crate::progress::poll("gasnet_exit");
        }
        std::thread::sleep(LOOK);
        seen = count(0);
    }
}

/// `gasnet_exit`
#[unsafe(no_mangle)]
pub extern "C" fn gasnet_exit(code: c_int) -> ! {
    if !start::is_initialized() {
        os::process::exit(code)
    }
    let me = ptr::from_mut(thread::get()) as usize;
    match EXITING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {}
        // From an exit handler, or from a signal handler that has interrupted this function: nobody else goes on.
        Err(first) if first == me => runtime::global_exit(code),
        // Another thread ends the process.
        Err(_) => loop {
            std::thread::sleep(Duration::from_millis(100));
        },
    }
    // All others follow at the end of `exit`: another thread may read from one for ever.
    os::streams::flush_standard();
    if wait_for_others(code != 0) == Others::Come && code == 0 && finalize() {
        os::process::exit(0)
    }
    runtime::global_exit(code)
}

/// Ends what this process has begun, after all others have come; whether that went well.
fn finalize() -> bool {
    if thread::get().restricted != 0 {
        return false;
    }
    // What handlers of others, or a fault, ends meanwhile, ends this PE, too.
    // Each init of the program's, by either interface, has one.
    let mut ended = Ok(());
    while runtime::uses() > 0 && ended.is_ok() {
        ended = sma::init::finalize();
    }
    ended.is_ok()
}

/// Has a process that ends without `gasnet_exit`, but well, end as by that.
pub fn end_with_the_process() {
    runtime::before_faults(give_way);
    os::process::at_exit(at_exit);
}

extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    // A failure ends the job by itself.
    if status != 0 || runtime::uses() == 0 || runtime::is_ending() {
        return;
    }
    let me = ptr::from_mut(thread::get()) as usize;
    if EXITING.compare_exchange(0, me, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    // It is in no call of the program's any more.
    let before = op::find("shmem_finalize").and_then(|op| recorder::stall(op, -1, 0, 0, Duration::ZERO));
    let others = wait_for_others(false);
    before.iter().for_each(recorder::stall_over);
    let me = runtime::map().me;
    match others {
        Others::Come if finalize() => return,
        // What comes after this handler would wait for messages, which a handler, or the holder of a lock, must not:
        // those who have sent them may wait for it.
        Others::Come => {}
        Others::Late => pellucid_core::say!(
            "pellucid: PE {me}: its main has returned, or it has called exit; the other PEs have not within {} s, so \
             the job ends, as by gasnet_exit(0) (GASNET_EXITTIMEOUT)",
            settings::exit_timeout()
        ),
        Others::Unknown if thread::get().restricted != 0 => pellucid_core::say!(
            "pellucid: PE {me}: it has called exit {}, where it cannot ask for the other PEs, so the job ends, as by \
             gasnet_exit(0)",
            fail::context()
        ),
        Others::Unknown => pellucid_core::say!(
            "pellucid: PE {me}: its main has returned, or it has called exit; it cannot ask for the other PEs, so the \
             job ends, as by gasnet_exit(0)"
        ),
    }
    runtime::global_exit(0)
}

/// What goes wrong in other threads while one ends the process comes of that, as a request after the PEs have met for
/// the last time: they stand still, as those that call `gasnet_exit` later. Anything else may have a reason of its own,
/// and may be what the end waits for: it is said where the end does not come.
pub fn give_way(fault: &Fault) {
    let first = EXITING.load(Ordering::Acquire);
    if first == 0 || first == ptr::from_mut(thread::get()) as usize {
        return;
    }
    let until = Instant::now() + Duration::from_secs_f64(settings::exit_timeout()) + AFTER;
    while matches!(fault.cause(), Cause::Finalized) || Instant::now() < until {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Signals that end the job, which its launcher hands on.
const ENDS: [c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// Has a client that catches SIGQUIT get it where the job ends: launchers ask by another signal.
pub fn tell_by_quit() {
    for signal in ENDS {
        // SAFETY: zeroes are a value of it; the handler calls what may be called there.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut now);
            if now.sa_sigaction == libc::SIG_DFL {
                now.sa_sigaction = on_end as extern "C" fn(c_int) as libc::sighandler_t;
                now.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &raw const now, std::ptr::null_mut());
            }
        }
    }
}

extern "C" fn on_end(signal: c_int) {
    // SAFETY: as above; all of these may be called in a signal handler.
    unsafe {
        let mut quit: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGQUIT, std::ptr::null(), &raw mut quit);
        if quit.sa_sigaction != libc::SIG_DFL && quit.sa_sigaction != libc::SIG_IGN {
            libc::raise(libc::SIGQUIT);
        }
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
